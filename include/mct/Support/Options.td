// SPDX-License-Identifier: Apache-2.0
//
// Options that several passes have, and how pipelines get those of passes: name,
// type, default and description of an option are written once.
#ifndef MCT_SUPPORT_OPTIONS_TD
#define MCT_SUPPORT_OPTIONS_TD

include "mlir/Pass/PassBase.td"

//===----------------------------------------------------------------------===//
// Groups of pipeline options: mct-tblgen makes a struct of each
//===----------------------------------------------------------------------===//

/// An option of a pass that pipelines offer under another name, because several of their passes have an option of that
/// name.
class Mct_PipelineOption<string varName, string arg, Option of>
    : Option<varName, arg, of.type, of.defaultValue, of.description, of.additionalOptFlags> {
  string passMember = of.cppName;
}

/// `ofPasses`: the options are those of passes, to which `copyTo` copies them; otherwise the pipeline's builder reads
/// them. `heading`: section of the options in help texts and in the reference.
class Mct_OptionGroup<string what, string heading, list<Option> members, bit copied = true> {
  string summary = what;
  string section = heading;
  list<Option> options = members;
  bit ofPasses = copied;
}

/// A group as a member of the options of a pipeline.
class Mct_Member<string memberName, Mct_OptionGroup of> {
  string name = memberName;
  Mct_OptionGroup group = of;
}

/// The options of the pipeline `pipelineFlag`: those of another pipeline, from which the struct is derived, and groups.
class Mct_Pipeline<string pipelineFlag, string text, list<Mct_Member> own, list<Mct_Pipeline> derivedFrom = []> {
  string flag = pipelineFlag;
  string summary = text;
  list<Mct_Member> members = own;
  list<Mct_Pipeline> base = derivedFrom;
}

//===----------------------------------------------------------------------===//
// Options that several passes have
//===----------------------------------------------------------------------===//

def Mct_ThreadsOption : Option<"threads", "threads", "unsigned", /*default=*/"0", "Worker threads; 0: one per core">;

def Mct_RemarksOption :
    Option<"remarks", "remarks", "bool", /*default=*/"false",
           "Report changes, with the error where parameters are selected, and what stays unchanged, with reasons">;

def Mct_FunctionOption : Option<"function", "function", "std::string", /*default=*/"",
                                "Function to work on; empty: `main`, or the only public one">;

def Mct_OverridesOption : Option<"overrides", "overrides", "std::string", /*default=*/"",
                                 "File with rules that take precedence over the target's; see mct-insert-quantizers">;

/// Options of a pass that runs the network on samples.
defvar Mct_SampleOptions = [
  ListOption<"calibrationData", "calibration-data", "std::string", "Samples: `FILE.npy` or `INPUT:FILE.npy`, …">,
  Option<"calibrationSamples", "calibration-samples", "uint64_t", /*default=*/"0", "Read this many samples; 0: all">,
  Option<"batchSize", "batch-size", "uint64_t", /*default=*/"0",
         "Samples that a worker processes at once; 0: derived from the network">,
  Mct_ThreadsOption,
  Option<"maxMemory", "max-memory", "std::string", /*default=*/"",
         "Memory limit of the process in bytes, or in K, M, G of them: fewer workers, smaller batches, more "
         "temporary files, and an error if running needs more; empty: the memory of the machine">,
  Option<"inputScale", "input-scale", "std::string", /*default=*/"",
         "Factor from stored value to network input, `S` or `S;S;…` per channel">,
  Option<"inputOffset", "input-offset", "std::string", /*default=*/"", "Number added after the factor, in the same "
                                                                       "form">,
  ListOption<"shardsIn", "shards-in", "std::string",
             "Take the statistics of shards of the samples from these files, written by shards-out, in place of "
             "samples">,
  Option<"shardsOut", "shards-out", "std::string", /*default=*/"",
         "The samples are a shard: write the statistics that shards-in does not have to this file, and end there">,
  Option<"shard", "shard", "std::string", /*default=*/"", "Index of the shard, `I/N`, I from 0 to N - 1">,
  Mct_FunctionOption,
];

#endif // MCT_SUPPORT_OPTIONS_TD
