#include "arms/control_page.h"

namespace tare::arms {

const char* to_string(Phase phase) {
  switch (phase) {
    case Phase::kIdle:
      return "between calls";
    case Phase::kLoad:
      return "while being loaded";
    case Phase::kOpen:
      return "in open()";
    case Phase::kSupports:
      return "in supports()";
    case Phase::kPrepare:
      return "in prepare()";
    case Phase::kBind:
      return "in bind()";
    case Phase::kSetRows:
      return "in set_rows()";
    case Phase::kEnqueue:
      return "in enqueue()";
    case Phase::kFence:
      return "in fence()";
    case Phase::kStage:
      return "in stage()";
    case Phase::kLaunch:
      return "in launch()";
    case Phase::kCollect:
      return "in collect()";
    case Phase::kDescribe:
      return "in dispatched()";
    case Phase::kDestroy:
      return "in destroy()";
  }
  return "in an unknown call";
}

}  // namespace tare::arms
