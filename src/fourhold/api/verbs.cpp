#include "fourhold/api/verbs.h"

#include <array>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "fourhold/api/calibration.h"
#include "fourhold/api/compare.h"
#include "fourhold/api/completion.h"
#include "fourhold/api/explain.h"
#include "fourhold/api/fit.h"
#include "fourhold/api/hardware.h"
#include "fourhold/api/launch.h"
#include "fourhold/api/man.h"
#include "fourhold/api/measure.h"
#include "fourhold/api/models.h"
#include "fourhold/api/params.h"
#include "fourhold/api/plan_verb.h"
#include "fourhold/api/predict.h"
#include "fourhold/api/profiles.h"
#include "fourhold/api/request.h"
#include "fourhold/api/sample.h"
#include "fourhold/api/stall.h"
#include "fourhold/api/tokenize.h"
#include "fourhold/api/train.h"
#include "fourhold/api/validate.h"
#include "fourhold/base/near_match.h"

namespace fourhold::api {
namespace {

ExitCode exit_of(const predict::Verdict& verdict) {
  const bool yes = verdict.verdict == predict::VerdictClass::fits ||
                   verdict.verdict == predict::VerdictClass::fits_but_takes_too_long;
  return yes ? ExitCode::done : ExitCode::answer_is_no;
}
ExitCode exit_of(const FitResult& result) { return exit_of(result.verdict); }
ExitCode exit_of(const PredictResult& result) {
  return result.verdict ? exit_of(*result.verdict) : ExitCode::done;
}
ExitCode exit_of(const PlanVerbResult& result) {
  if (!result.changed.empty()) return exit_of(result.changed[1]);
  return exit_of(result.best().verdict);
}
ExitCode exit_of(const CompareResult& result) {
  return result.comparison.is_equal() ? ExitCode::done : ExitCode::answer_is_no;
}
template <class Result>
ExitCode exit_of(const Result& /*result*/) {
  return ExitCode::done;
}

// Those whose notes are not part of the text itself.
template <class Result>
std::vector<std::string> notes_of(const Result& result) {
  if constexpr (std::is_same_v<Result, FitResult> || std::is_same_v<Result, PredictResult> ||
                std::is_same_v<Result, PlanVerbResult> || std::is_same_v<Result, ExplainResult> ||
                std::is_same_v<Result, HardwareResult>) {
    return result.notes;
  } else {
    return {};
  }
}

// Pictures and plans beside the text.
template <class Request, class Result>
std::vector<Output::File> files_of(const Request& request, const Result& result) {
  std::vector<Output::File> files;
  if constexpr (std::is_same_v<Result, PlanVerbResult>) {
    if (!result.changed.empty()) return files;
    const std::string plan = plan_file_of(result);
    if (!request.output.empty() && !plan.empty()) files.push_back({request.output, plan});
    if (!request.svg.empty()) files.push_back({request.svg, svg_of(result)});
  } else if constexpr (std::is_same_v<Result, ValidateResult>) {
    if (request.svg.empty()) return files;
    files.push_back(
        {request.svg, report::draw_scatter_svg(scatter_of(result), "Predicted against measured")});
  } else if constexpr (requires { request.svg; }) {
    if constexpr (std::is_same_v<Result, PredictResult>) {
      if (!result.calibration_path.empty()) {
        files.push_back({result.calibration_path, result.calibration_text, Folder::made});
      }
    }
    if (request.svg.empty()) return files;
    const std::string title =
        result.device.empty() ? result.name : result.name + " on " + result.device;
    files.push_back({request.svg, report::draw_svg(bars_of(result), title)});
  }
  return files;
}

template <class Request, auto kAnswer>
Output run(const Arguments& arguments, Form form, const report::Screen& screen,
           const Progress& progress) {
  Request request = request_of<Request>(arguments);
  if constexpr (requires { request.progress; }) request.progress = progress;
  if constexpr (requires { request.run.default_calibration; }) {
    request.run.default_calibration = default_calibration_path();
  }
  const auto result = kAnswer(request);
  Output output;
  output.text = form == Form::json ? json::write(to_json(result)) + "\n" : to_text(result, screen);
  output.notes = notes_of(result);
  output.exit_code = exit_of(result);
  output.files = files_of(request, result);
  return output;
}

template <class Request, auto kAnswer>
json::Value call_one(const json::Value& request) {
  return to_json(kAnswer(request_of<Request>(request)));
}

template <class Request, auto kAnswer>
constexpr Verb verb(std::string_view name, std::string_view operands, std::string_view summary,
                    std::string_view description, std::span<const Example> examples) {
  return {name,
          operands,
          summary,
          description,
          examples,
          &options_of<Request>,
          &run<Request, kAnswer>,
          &call_one<Request, kAnswer>};
}

[[noreturn]] json::Value refuse_engine_call(const json::Value& request) {
  throw Error("verb", "trains or reads data: the engine's program answers it",
              "run `fourhold " + request.find("verb")->string() + "`");
}

// A verb of the engine: its options are known here, so that help, the manual page and completion
// are too.
template <class Request>
constexpr Verb engine_verb(std::string_view name, std::string_view operands,
                           std::string_view summary, std::string_view description,
                           std::span<const Example> examples) {
  return {name,    operands,           summary, description, examples, &options_of<Request>,
          nullptr, &refuse_engine_call};
}

constexpr std::array kTrainExamples{
    Example{"train my/config.json --steps 200 --lr 1e-3 --batch 8 --out run",
            "train a small model on the built-in text, keep logs and checkpoints"},
    Example{"train gpt2 --data tokens.bin --steps 1000 --lr 6e-4 --seq 1024",
            "GPT-2 124M on a token file"},
    Example{"train run/step-00000200 --data more.bin --steps 100 --lr 1e-5",
            "start from weights that are there"},
    Example{"train my/config.json --steps 400 --lr 1e-3 --out run --resume auto",
            "go on where a run stopped"}};
constexpr std::array kLaunchExamples{
    Example{"launch plan.json -- --steps 1000 --lr 6e-4 --out run",
            "the command that trains a plan on its ranks, to look at or to keep in a script"},
    Example{"launch plan.json --hostfile hosts --restarts 3 -- --steps 1000 --lr 6e-4 --out run "
            "--save-every 100",
            "train on several hosts, and go on from a checkpoint when one is lost"}};
constexpr std::array kSampleExamples{
    Example{"sample run --prompt 'Once upon a time'", "what the newest checkpoint of a run writes"},
    Example{"sample run/step-00000200 --temperature 0 --tokens 100",
            "the likeliest text of one checkpoint"},
    Example{"sample my/qwen3-0.6b --prompt 'The capital of France is' --top-k 50 --top-p 0.95",
            "a published model, from its folder of weights"}};
constexpr std::array kTokenizeExamples{
    Example{"tokenize book.txt -o tokens.bin", "bytes as tokens"},
    Example{"tokenize chat.jsonl -o chat.bin --tokenizer tokenizer.json",
            "prompts and answers, of which only answers are learned"}};
constexpr std::array kStallExamples{
    Example{"stall model.safetensors --lr 1e-5",
            "how many updates would be lost without a master copy?"},
    Example{"stall run/step-00000200 --lr 6e-4 --dtype fp16", "and of a checkpoint, in fp16?"}};
constexpr std::array kMeasureExamples{
    Example{"measure -o machine.json", "then: plan gpt2 --device machine.json --count 1"},
    Example{"measure --quick --threads 1", "what does one core do?"}};
constexpr std::array kFitExamples{
    Example{"fit llama-3.1-8b --device rtx-4090 --batch 1 --seq 4096",
            "does full training fit one 24 GB card?"},
    Example{"fit my/config.json --memory 24GiB --tuning lora", "and with low-rank adapters?"},
    Example{"fit llama-2-7b --device rtx-3090 --count 8 --zero 3", "and sharded over eight?"},
    Example{"fit --parameters 90e9 --device a100-80gb", "how many devices hold the state alone?"}};
constexpr std::array kPlanExamples{
    Example{"plan llama-3.1-8b --device h100 --count 8 --tokens 1e12 -o plan.json",
            "I have 8 H100 and want to pre-train an 8B on 1T tokens"},
    Example{"plan llama-3.1-70b --device h100,h200,mi300x --count 64 --seq 8192 --global-batch 512",
            "which of three devices is done first, and what does each cost?"},
    Example{"plan --from plan.json", "how good is this plan beside the fastest?"},
    Example{"plan --from plan.json --change tp=4 --change zero=2",
            "what does a change do, in bytes and seconds?"}};
constexpr std::array kPredictExamples{
    Example{"predict llama-3.1-70b --device h100 --count 64 --tp 8 --pp 2 --seq 8192",
            "what each stage of one split holds, and how long a step takes"},
    Example{"predict plan.json --zero 1 --tokens 2e12", "a plan file, with one field changed"},
    Example{"predict a.json b.json", "what differs between two plans, in bytes and seconds"}};
constexpr std::array kParamsExamples{
    Example{"params qwen3-30b-a3b", "total, active, and every module"},
    Example{"params gpt2 --published 137022720", "why does the Hub say more?"},
    Example{"params model.safetensors", "count weights by their header"}};
constexpr std::array kExplainExamples{
    Example{"explain gpt2 --batch 8 --seq 1024", "what exactly is alive at the peak?"}};
constexpr std::array kCompareExamples{
    Example{"compare a.json b.json", "two files of `fourhold explain MODEL --json`"}};
constexpr std::array kValidateExamples{
    Example{"validate --builtin", "how far off are the predictions, by source?"},
    Example{"validate mine.csv --rows", "and of my own runs, row by row?"}};
constexpr std::array kModelsExamples{Example{"models llama-3.1-8b", "one model and its sources"}};
constexpr std::array kHardwareExamples{
    Example{"hardware rtx-4090", "one device, with the source of every fact"}};
constexpr std::array kProfilesExamples{Example{"profiles megatron", "one profile and its sources"}};
constexpr std::array kManExamples{Example{"man | man -l -", "read it"}};
constexpr std::array kCompletionExamples{
    Example{"completion bash > ~/.local/share/bash-completion/completions/fourhold",
            "complete words with the Tab key"}};

constexpr std::array kVerbs{
    verb<FitRequest, &fit>(
        "fit", "MODEL", "does training fit a device, and if not, what to change first?",
        "States the two numbers (state and activations) beside what the device has, the verdict, "
        "single changes that cure it, each tried by predicting again, and the largest "
        "micro-batch and sequence that fit. One device, or plain data parallel over --count of "
        "them; a split given with --tp, --pp or --cp is judged as given. Exit code 1 means: it "
        "does not fit.",
        kFitExamples),
    verb<PlanVerbRequest, &find_plan>(
        "plan", "MODEL", "the fastest split that fits, its speed, and why others fell out",
        "Searches data parallel, ZeRO, tensor, pipeline, context and expert parallel, micro-batch, "
        "recomputation and offload for the fastest plans that fit --count devices, and proves "
        "them: "
        "every candidate's memory is exact, and bounds alone exclude. What a flag gives is not "
        "searched. With --tokens it says how many days the run takes, what it costs, whether that "
        "is too long and how many devices would do; the scaling table says how much of the "
        "speed-up is kept. Several devices are searched one by one and compared. Without "
        "--global-batch a step has 4,194,304 tokens, whatever --count is. Exit code 1 means: "
        "nothing fits.",
        kPlanExamples),
    verb<PredictRequest, &predict>(
        "predict", "MODEL [PLAN_FILE] | PLAN_FILE [PLAN_FILE]",
        "what one explicit split holds, and how long its step takes, by part",
        "Predicts memory and time of a plan given by flags or by a plan file. Of --zero, "
        "--recompute, --offload and --vpp, what is not given is chosen as plan would choose it "
        "with "
        "the rest fixed: the fastest that fits; where none fits, the one that misses by least. "
        "With "
        "--tokens it says how long the run takes; --mfu or --tokens-per-second replace the "
        "predicted speed. Two plan files are compared line by line. Exit code 1 means: it does "
        "not fit.",
        kPredictExamples),
    engine_verb<TrainRequest>(
        "train", "MODEL [PLAN_FILE]",
        "train a model here, and compare its bytes with the prediction",
        "Runs the plan on this machine's CPU: reserves exactly the predicted arena, or refuses "
        "with the planner's answers where it does not fit; then trains, logs loss, speed and the "
        "share of updates that were too small to count, and states predicted beside measured "
        "bytes, entry by entry. Exit code 1 means: the bytes differ, or the run had to stop.",
        kTrainExamples),
    engine_verb<LaunchRequest>(
        "launch", "PLAN [-- OPTIONS]", "the command that trains a plan on its ranks, or run it",
        "Prints the command of Open MPI, MPICH or Slurm that starts one process for each rank of "
        "the plan (tp x pp x cp x dp), each on as many cores of its own as it has threads. What "
        "stands behind -- goes to train. With --run it is run; with --restarts a job that fails "
        "goes on from its newest checkpoint, without the hosts that no longer answer where the "
        "plan allows fewer replicas. The exit code is that of the last run.",
        kLaunchExamples),
    engine_verb<SampleRequest>(
        "sample", "MODEL", "text from a trained model, to see what it learned",
        "Goes on from a prompt, token by token, with the weights of a checkpoint of train, the "
        "newest of a run, or a published folder of the GPT-2, Llama and Qwen families. The text is "
        "printed as it comes, and ends with the model's end of text. It holds the weights, a cache "
        "of keys and values and one pass's activations: predicted and measured, to the byte. Exit "
        "code 1 means: the bytes differ, or a signal came.",
        kSampleExamples),
    engine_verb<TokenizeRequest>(
        "tokenize", "INPUT", "turn texts into a token file to train on",
        "Reads text, or prompts and answers (.jsonl with prompt and answer), and writes the ids "
        "of a tokenizer in the format of llm.c, nanoGPT or Megatron, with a card beside it.",
        kTokenizeExamples),
    engine_verb<StallRequest>(
        "stall", "MODEL.safetensors",
        "how many updates would a checkpoint lose without a master copy?",
        "Moves every weight by the learning rate, up and down, as Adam does in its steady state, "
        "and counts the moves that round to no change in the given format.",
        kStallExamples),
    engine_verb<MeasureRequest>(
        "measure", "", "this machine as a device file, so that time can be predicted on it",
        "Times the engine's kernels on the shapes of a GPT-2 layer, in bf16 and fp32, and a "
        "stream through memory. The file can be given to --device of fit, plan, predict and "
        "train.",
        kMeasureExamples),
    verb<ParamsRequest, &params>(
        "params", "MODEL", "the exact parameter count, by module",
        "Counts the language model; what a published total holds beside it (buffers, a head "
        "stored twice, other towers, scales) is named in notes. Weights are counted by their "
        "header alone.",
        kParamsExamples),
    verb<ExplainRequest, &explain>(
        "explain", "MODEL [PLAN_FILE] | PLAN_FILE",
        "every entry of the ledger, and why it is alive",
        "Lists every tensor that one device of the fullest stage holds: how many are alive at "
        "the peak, what each takes, and why it is held. The bytes add up to the peak. The plan "
        "is found as in predict.",
        kExplainExamples),
    verb<CompareRequest, &compare>("compare", "A B", "two ledgers, entry by entry",
                                   "Compares two ledger files: what differs, by category and "
                                   "entry. Exit code 1 means: they differ.",
                                   kCompareExamples),
    verb<ValidateRequest, &validate>(
        "validate", "FILE.csv...", "published measurements replayed: predicted beside measured",
        "Rebuilds the run of every row under its own framework, predicts its memory and its time, "
        "and compares like with like: allocated with allocated, reserved with reserved, on the "
        "stage that the source measured. States errors by source, who was rightly said to fit, "
        "and how well plans of one model are ranked. A row is skipped only for a fact it lacks.",
        kValidateExamples),
    verb<ModelsRequest, &models>("models", "[MODEL]", "the built-in models and their sources",
                                 "Lists the built-in models, or one model in detail.",
                                 kModelsExamples),
    verb<HardwareRequest, &list_hardware>(
        "hardware", "[DEVICE]", "the built-in devices and their sources",
        "Lists the built-in devices, or one device in detail. With --json it prints device "
        "files: a copy can be edited and given to --device.",
        kHardwareExamples),
    verb<ProfilesRequest, &profiles>(
        "profiles", "[PROFILE]", "the frameworks whose bytes are known, and the sources",
        "Lists the built-in profiles, or one in detail. With --json it prints profile files: a "
        "copy can be edited and given to --profile.",
        kProfilesExamples),
    verb<ManRequest, &man>("man", "", "the manual page",
                           "Prints the manual page in the format of man(7).", kManExamples),
    verb<CompletionRequest, &completion>("completion", "SHELL", "completion for bash, zsh or fish",
                                         "Prints a script that completes commands, options and "
                                         "the names that are built in.",
                                         kCompletionExamples)};

}  // namespace

std::span<const Verb> verbs() { return kVerbs; }

const Verb& verb_named(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Verb& one : verbs()) {
    if (one.name == name) return one;
    names.push_back(one.name);
  }
  const std::string near = did_you_mean(name, names);
  throw Error(fmt::format("{:.60}", name), "is no command",
              fmt::format("{}{}the commands are {}", near, near.empty() ? "" : " ",
                          fmt::join(names, ", ")));
}

std::vector<OptionInfo> common_options() {
  const auto option = [](std::string name, std::string value, std::string help) {
    OptionInfo info;
    info.flag = flag_of(name);
    info.name = std::move(name);
    info.value = std::move(value);
    info.help = std::move(help);
    info.group = OptionGroup::output;
    return info;
  };
  std::vector<OptionInfo> options{
      option("json", "", "print the answer as JSON, with a `schema` field"),
      option("color", "WHEN", "auto, always or never; auto is never where NO_COLOR is set"),
      option("help", "", "print the options of the command")};
  options[1].choices = {"auto", "always", "never"};
  options[1].kind = ValueKind::choice;
  return options;
}

json::Value call(const json::Value& request) {
  if (!request.is_object()) {
    throw Error("request", fmt::format("must be an object, not {}", request.kind_name()),
                "for example {\"verb\": \"params\", \"model\": \"gpt2\"}");
  }
  const json::Value* name = request.find("verb");
  if (name == nullptr || !name->is_string()) {
    throw Error("verb", "is missing", "name one of the commands, for example \"fit\"");
  }
  return verb_named(name->string()).call(request);
}

}  // namespace fourhold::api
