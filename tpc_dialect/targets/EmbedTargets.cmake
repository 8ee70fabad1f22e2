# Writes OUTPUT: for each of FILES the line MCT_TARGET("name", R"mlir(text)mlir").
set(text "")
foreach(file IN LISTS FILES)
  get_filename_component(name ${file} NAME_WE)
  file(READ ${file} content)
  string(APPEND text "MCT_TARGET(\"${name}\", R\"mlir(${content})mlir\")\n")
endforeach()
file(WRITE ${OUTPUT} "${text}")
