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

/// An option of a pass that pipelines offer under another name, where several of their passes have one of that name.
class Mct_PipelineOption<string varName, string arg, Option of>
    : Option<varName, arg, of.type, of.defaultValue, of.description, of.additionalOptFlags> {
  string passMember = of.cppName;
}

/// `ofPasses`: the options are those of passes, which `copyTo` hands them to; else the pipeline's builder reads them.
/// `heading`: that below which help texts and the reference list the options.
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

/// The options of the pipeline `pipelineFlag`: those of another one, of which the struct is derived, and groups.
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
           "Report what is done, with the error where parameters are selected, and what is left alone, and why">;

def Mct_FunctionOption : Option<"function", "function", "std::string", /*default=*/"",
                                "Function to work on; empty: `main`, or the only public one">;

def Mct_OverridesOption : Option<"overrides", "overrides", "std::string", /*default=*/"",
                                 "File with rules that go before the target's; see mct-insert-quantizers">;

/// Options of a pass that runs the network on samples.
defvar Mct_SampleOptions = [
  ListOption<"calibrationData", "calibration-data", "std::string", "Samples: `FILE.npy` or `INPUT:FILE.npy`, …">,
  Option<"calibrationSamples", "calibration-samples", "uint64_t", /*default=*/"0", "Read that many samples; 0: all">,
  Option<"batchSize", "batch-size", "uint64_t", /*default=*/"0",
         "Samples that a worker takes at once; 0: chosen from the network">,
  Mct_ThreadsOption,
  Option<"maxMemory", "max-memory", "std::string", /*default=*/"",
         "Bytes that the process may have, or K, M, G of them: fewer workers, smaller batches, more in temporary files, and an "
         "error where running needs more; empty: those of the machine">,
  Option<"inputScale", "input-scale", "std::string", /*default=*/"",
         "Factor from stored value to network input, `S` or `S;S;…` per channel">,
  Option<"inputOffset", "input-offset", "std::string", /*default=*/"", "Added after the factor, likewise">,
  ListOption<"shardsIn", "shards-in", "std::string",
             "Take what shards of the samples say from these files, which shards-out has written, in place of samples">,
  Option<"shardsOut", "shards-out", "std::string", /*default=*/"",
         "The samples are a shard: write what they say, as far as shards-in does not, to this file, and end there">,
  Option<"shard", "shard", "std::string", /*default=*/"", "Which shard that is, `I/N`, I from 0 to N - 1">,
  Mct_FunctionOption,
];

#endif // MCT_SUPPORT_OPTIONS_TD
