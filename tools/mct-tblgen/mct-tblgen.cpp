// SPDX-License-Identifier: Apache-2.0
//
// Generates the options of pipelines from the definitions of the passes'
// options: for every `Mct_OptionGroup` a struct with a member for each option,
// and `copyTo` for the passes that have them; for every `Mct_Pipeline` a struct
// with a member for each group.
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/TableGen/Error.h"
#include "llvm/TableGen/Main.h"
#include "llvm/TableGen/Record.h"
#include "llvm/TableGen/TableGenBackend.h"

using namespace llvm;

static void emitOption(raw_ostream &os, const Record &option) {
  bool isList = option.isSubClassOf("ListOption");
  os << "  ::mlir::detail::PassOptions::" << (isList ? "ListOption" : "Option")
     << '<' << option.getValueAsString("type") << "> "
     << option.getValueAsString("cppName") << "{parent, \""
     << option.getValueAsString("argument") << "\", ::llvm::cl::desc(R\"PO("
     << option.getValueAsString("description") << ")PO\")";
  StringRef init = option.getValueAsString("defaultValue");
  if (!init.empty())
    os << ", ::llvm::cl::init(" << init << ')';
  StringRef flags = option.getValueAsString("additionalOptFlags");
  if (!flags.empty())
    os << ", " << flags;
  os << "};\n";
}

/// Place of an option of the group in a pass.
static StringRef getPassMember(const Record &option) {
  return option.isSubClassOf("Mct_PipelineOption")
             ? option.getValueAsString("passMember")
             : option.getValueAsString("cppName");
}

static void emitCopy(raw_ostream &os, const Record &option) {
  StringRef name = option.getValueAsString("cppName");
  StringRef member = getPassMember(option);
  if (option.isSubClassOf("ListOption"))
    os << "    pass." << member << ".assign(" << name << ".begin(), " << name
       << ".end());\n";
  else
    os << "    pass." << member << " = " << name << ";\n";
}

static void emitGroup(raw_ostream &os, const Record &group) {
  StringRef name = group.getName();
  std::vector<const Record *> options = group.getValueAsListOfDefs("options");
  StringSet<> arguments;
  for (const Record *option : options)
    if (!arguments.insert(option->getValueAsString("argument")).second)
      PrintFatalError(group.getLoc(), name + " has two options '" +
                                          option->getValueAsString("argument") +
                                          "'");
  os << "/// " << group.getValueAsString("summary") << "\nstruct " << name
     << " {\n  explicit " << name
     << "(::mlir::detail::PassOptions &parent) : parent(parent) {}\n"
     << "  ::mlir::detail::PassOptions &parent;\n\n";
  for (const Record *option : options)
    emitOption(os, *option);
  if (group.getValueAsBit("ofPasses")) {
    os << "\n  /// Gives a pass the values of its options that these are.\n"
       << "  template <typename PassT> void copyTo(PassT &pass) const {\n";
    for (const Record *option : options)
      emitCopy(os, *option);
    os << "  }\n";
  }
  os << "};\n\n";
}

/// `done` contains those that have been written.
static void emitPipeline(raw_ostream &os, const Record &pipeline,
                         StringSet<> &done) {
  StringRef name = pipeline.getName();
  if (!done.insert(name).second)
    return;
  std::vector<const Record *> base = pipeline.getValueAsListOfDefs("base");
  if (base.size() > 1)
    PrintFatalError(pipeline.getLoc(), name + " has several bases");
  if (!base.empty())
    emitPipeline(os, *base.front(), done);
  os << "/// Options of `" << pipeline.getValueAsString("flag") << "`.\nstruct "
     << name << " : public ";
  if (base.empty())
    os << "::mlir::PassPipelineOptions<" << name << ">";
  else
    os << base.front()->getName();
  os << " {\n";
  for (const char *field : {"flag", "summary"})
    os << "  static constexpr ::llvm::StringLiteral " << field
       << "() { return R\"PO(" << pipeline.getValueAsString(field)
       << ")PO\"; }\n";
  os << '\n';
  for (const Record *member : pipeline.getValueAsListOfDefs("members"))
    os << "  " << member->getValueAsDef("group")->getName() << ' '
       << member->getValueAsString("name") << "{*this};\n";
  os << "};\n\n";
}

static bool emitOptions(raw_ostream &os, const RecordKeeper &records) {
  emitSourceFileHeader("Options of pipelines", os, records);
  for (const Record *group :
       records.getAllDerivedDefinitions("Mct_OptionGroup"))
    emitGroup(os, *group);
  StringSet<> done;
  for (const Record *pipeline :
       records.getAllDerivedDefinitions("Mct_Pipeline"))
    emitPipeline(os, *pipeline, done);
  return false;
}

int main(int argc, char **argv) {
  cl::ParseCommandLineOptions(argc, argv, "Options of pipelines\n");
  return TableGenMain(argv[0], emitOptions);
}
