// Which fields each part of a results file has (records/fields.h).
#pragma once

#include "records/fields.h"
#include "report/calibration.h"
#include "report/results.h"

namespace tare::report {

using records::Is;
using records::visit_fields;

template <typename Visitor>
void visit_fields(Visitor& visit, Is<device::Isa> auto& isa) {
  visit("avx2", isa.avx2);
  visit("avx512", isa.avx512);
  visit("avx512_vnni", isa.avx512_vnni);
  visit("avx512_bf16", isa.avx512_bf16);
  visit("avx512_fp16", isa.avx512_fp16);
  visit("amx_bf16", isa.amx_bf16);
  visit("amx_int8", isa.amx_int8);
}

template <typename Visitor>
void visit_fields(Visitor& visit, Is<device::Machine> auto& machine) {
  visit("processor", machine.processor);
  visit("threads", machine.threads);
  visit("cores", machine.cores);
  visit("smt", machine.smt);
  visit("isa", machine.isa);
  visit("l1d_bytes", machine.l1d_bytes);
  visit("l2_bytes", machine.l2_bytes);
  visit("last_level_cache_bytes", machine.last_level_cache_bytes);
  visit("last_level_caches", machine.last_level_caches);
  visit("memory_bytes", machine.memory_bytes);
  visit("available_bytes", machine.available_bytes);
  visit("huge_pages", machine.huge_pages);
  visit("governor", machine.governor);
  visit("kernel", machine.kernel);
  visit("virtual_machine", machine.virtual_machine);
}

template <typename Visitor>
void visit_fields(Visitor& visit, Is<device::Accelerator> auto& accelerator) {
  visit("name", accelerator.name);
  visit("architecture", accelerator.architecture);
  visit("driver", accelerator.driver);
  visit("multiprocessors", accelerator.multiprocessors);
  visit("l2_bytes", accelerator.l2_bytes);
  visit("memory_bytes", accelerator.memory_bytes);
  visit("available_bytes", accelerator.available_bytes);
  visit("launching", accelerator.launching);
}

template <typename Visitor>
void visit_fields(Visitor& visit, Is<Library> auto& library) {
  visit("arm", library.arm);
  visit("title", library.title);
  visit("found", library.found);
  visit("reason", library.reason);
  visit("candidate", library.candidate);
  visit("limit", library.limit);
  visit.later("module", library.module);
  visit.later("on_request", library.on_request);
}

template <typename Visitor>
void visit_fields(Visitor& visit, Is<problem::Projection> auto& projection) {
  visit("name", projection.name);
  visit("k", projection.k);
  visit("n", projection.n);
  visit("count", projection.count);
  visit("stored", projection.stored);
  visit.later("weighed", projection.weighed);
  visit.later("counts", projection.counts);
  visit.later("parts", projection.parts);
  visit.type_if_any("bias", projection.bias);
}

template <typename Visitor>
void visit_fields(Visitor& visit, Is<problem::Model> auto& model) {
  visit("name", model.name);
  visit("source", model.source);
  visit("weights_per_token", model.weights_per_token);
  visit.later("bytes_per_token", model.bytes_per_token);
  visit("projections", model.projections);
  visit("notes", model.notes);
}

template <typename Visitor>
void visit_fields(Visitor& visit, Is<judge::Rules> auto& rules) {
  visit("alpha", rules.alpha);
  visit("verdict_alpha", rules.verdict_alpha);
  visit("equivalence", rules.equivalence);
  visit("overhead_share", rules.overhead_share);
  visit("floor_multiple", rules.floor_multiple);
  visit("least_blocks", rules.least_blocks);
  visit("verdict_placements", rules.verdict_placements);
  visit.later("most_placements", rules.most_placements);
  visit.later("equality", rules.equality);
  visit.later("equivalence_placements", rules.equivalence_placements);
  visit.later("dispatch_costs_by_slice", rules.dispatch_costs_by_slice);
  visit.later("dispatch_costs_by_block", rules.dispatch_costs_by_block);
  visit.later("calling_cost_at_most", rules.calling_cost_at_most);
  visit.later("limit_of_all_placements", rules.limit_of_all_placements);
}

template <typename Visitor>
void visit_fields(Visitor& visit, Is<Header> auto& header) {
  visit("tare_version", header.tare_version);
  visit("date", header.date);
  visit("command", header.command);
  visit("rows", header.rows);
  visit("mode", header.mode);
  visit("residency", header.residency);
  visit("traffic", header.traffic);
  visit("ring_bytes", header.ring_bytes);
  visit("seed", header.seed);
  visit("rules", header.rules);
  visit("machine", header.machine);
  visit("libraries", header.libraries);
  visit("models", header.models);
  visit.later("accelerator", header.accelerator);
}

template <typename Visitor>
void visit_fields(Visitor& visit, Is<Screened> auto& screened) {
  visit("arm", screened.arm);
  visit("title", screened.title);
  visit("seconds_per_dispatch", screened.seconds_per_dispatch);
  visit("gbps", screened.gbps);
  visit("reason", screened.reason);
}

template <typename Visitor>
void visit_fields(Visitor& visit, Is<tare_dispatch_record> auto& record) {
  visit("kernel", record.kernel);
  visit("isa", record.isa);
  visit("configuration", record.configuration);
  visit("library", record.library);
  visit("threads", record.threads);
}

template <typename Visitor>
void visit_fields(Visitor& visit, Is<weigh::Arm> auto& arm) {
  visit("role", arm.role);
  visit("name", arm.name);
  visit("title", arm.title);
  visit("dispatched", arm.dispatched);
  visit("threads_offered", arm.threads_offered);
  visit("huge_page_share", arm.huge_page_share);
  visit("prepare_seconds", arm.prepare_seconds);
  visit("prepared_bytes", arm.prepared_bytes);
  visit("ring_slots", arm.ring_slots);
  visit("ring_bytes", arm.ring_bytes);
  visit.later("l2_set_aside_bytes", arm.l2_set_aside_bytes);
}

template <typename Visitor>
void visit_fields(Visitor& visit, Is<weigh::Placement> auto& placement) {
  visit("seed", placement.seed);
  visit("traffic", placement.traffic);
  visit("fresh_processes", placement.fresh_processes);
  visit("set_aside", placement.set_aside);
}

// In a file, regions are columns: one array a field, one element a region.
template <typename Visitor>
void visit_fields(Visitor& visit, Is<weigh::Region> auto& region) {
  visit("arm", region.arm);
  visit("purpose", region.purpose);
  visit("placement", region.placement);
  visit("block", region.block);
  visit("round", region.round);
  visit("order", region.order);
  visit("dispatches", region.dispatches);
  visit("seconds", region.seconds);
  visit("outer_seconds", region.outer_seconds);
  visit("cpu_seconds", region.cpu_seconds);
  visit("others_cpu_seconds", region.others_cpu_seconds);
  visit("elsewhere_cpu_seconds", region.elsewhere_cpu_seconds);
  visit("page_faults", region.page_faults);
  visit("new_mappings", region.new_mappings);
  visit("involuntary_switches", region.involuntary_switches);
  visit("outputs", region.outputs);
  visit.later("device_seconds", region.device_seconds);
}

template <typename Visitor>
void visit_fields(Visitor& visit, Is<weigh::DeviceState> auto& state) {
  visit("placement", state.placement);
  visit("block", state.block);
  visit("sm_mhz", state.sm_mhz);
  visit("memory_mhz", state.memory_mhz);
  visit("celsius", state.celsius);
  visit("watts", state.watts);
  visit("slowed_by", state.slowed_by);
  visit.later("others_busy", state.others_busy);
}

template <typename Visitor>
void visit_fields(Visitor& visit, Is<weigh::Proof> auto& proof) {
  visit("done", proof.done);
  visit("elements", proof.elements);
  visit("differing", proof.differing);
  visit("class_mismatch", proof.class_mismatch);
  visit("candidate_non_finite", proof.candidate_non_finite);
  visit("incumbent_non_finite", proof.incumbent_non_finite);
  visit("unwritten", proof.unwritten);
  visit("max_ulp", proof.max_ulp);
  visit("incumbent_error_max", proof.incumbent_error_max);
  visit("incumbent_error_rms", proof.incumbent_error_rms);
  visit("candidate_error_max", proof.candidate_error_max);
  visit("candidate_error_rms", proof.candidate_error_rms);
  visit("oracle_elements", proof.oracle_elements);
  visit("wrote_outside", proof.wrote_outside);
  visit.later("rows", proof.rows);
}

template <typename Visitor>
void visit_fields(Visitor& visit, Is<weigh::RowProof> auto& rows) {
  visit("against", rows.against);
  visit("elements", rows.elements);
  visit("by_count", rows.by_count);
  visit("by_position", rows.by_position);
  visit("by_neighbours", rows.by_neighbours);
  visit("failure", rows.failure);
}

template <typename Visitor>
void visit_fields(Visitor& visit, Is<weigh::ChainPart> auto& part) {
  visit("problem", part.problem);
  visit("count", part.count);
  visit.later("parts", part.parts);
}

template <typename Visitor>
void visit_fields(Visitor& visit, Is<weigh::Weighing> auto& weighing) {
  visit("problem", weighing.problem);
  visit.later("chain", weighing.chain);
  visit.later("parts", weighing.parts);
  visit("mode", weighing.mode);
  visit("residency", weighing.residency);
  visit("slice_columns", weighing.slice_columns);
  visit("timer_floor_seconds", weighing.timer_floor_seconds);
  visit("threads", weighing.threads);
  visit("last_level_cache_bytes", weighing.last_level_cache_bytes);
  visit("failure", weighing.failure);
  visit("proof", weighing.proof);
  visit("arms", weighing.arms);
  visit("placements", weighing.placements);
  visit("regions", weighing.regions);
  visit.later("device_states", weighing.device_states);
}

// The judgement is written for other programs and never read back: it is recomputed from the
// weighing.
template <typename Visitor>
void visit_fields(Visitor& visit, Is<judge::Fit> auto& fit) {
  visit("per_dispatch", fit.per_dispatch);
  visit("per_dispatch_interval", fit.per_dispatch_interval);
  visit("per_region", fit.per_region);
  visit("per_region_interval", fit.per_region_interval);
  visit("identifiable", fit.identifiable);
  visit("dispatch_cost", fit.dispatch_cost);
  visit("dispatch_cost_interval", fit.dispatch_cost_interval);
  visit("seconds_per_byte", fit.seconds_per_byte);
  visit("split_identifiable", fit.split_identifiable);
  visit("overhead_share", fit.overhead_share);
  visit("naive_per_dispatch", fit.naive_per_dispatch);
}

template <typename Visitor>
void visit_fields(Visitor& visit, Is<judge::Finding> auto& finding) {
  visit("gate", finding.gate);
  visit("passed", finding.passed);
  visit("seen", finding.seen);
  visit("allowed", finding.allowed);
  visit("sentence", finding.sentence);
  visit("curable_by_traffic", finding.curable_by_traffic);
  visit("curable_by_repeating", finding.curable_by_repeating);
}

template <typename Visitor>
void visit_fields(Visitor& visit, Is<judge::Judgement> auto& judgement) {
  visit("fits", judgement.fits);
  visit("limit_seconds", judgement.limit_seconds);
  visit("bound", judgement.bound);
  visit("stream_bytes_per_second", judgement.stream_bytes_per_second);
  visit("peak_operations_per_second", judgement.peak_operations_per_second);
  visit("incumbent_gbps", judgement.incumbent_gbps);
  visit("candidate_gbps", judgement.candidate_gbps);
  visit("gap", judgement.gap);
  visit("ratio", judgement.ratio);
  visit("interval", judgement.interval);
  visit("verdict_interval", judgement.verdict_interval);
  visit("mean_ratio", judgement.mean_ratio);
  visit("tail_ratio", judgement.tail_ratio);
  visit("naive_ratio", judgement.naive_ratio);
  visit("control_ratio", judgement.control_ratio);
  visit("control_interval", judgement.control_interval);
  visit("log_evidence", judgement.log_evidence);
  visit("placements", judgement.placements);
  visit("placement_spread", judgement.placement_spread);
  visit("unconfirmed", judgement.unconfirmed);
  visit.later("within_luck", judgement.within_luck);
  visit("dispatch_win", judgement.dispatch_win);
  visit("break_even_dispatches", judgement.break_even_dispatches);
  visit("blocks", judgement.blocks);
  visit("weighed_seconds", judgement.weighed_seconds);
  visit("seconds_to_decide", judgement.seconds_to_decide);
  visit("bits", judgement.bits);
  visit("verdict", judgement.verdict);
  visit("decision", judgement.decision);
  visit("cause", judgement.cause);
  visit("cause_sentence", judgement.cause_sentence);
  visit("gates", judgement.gates);
}

template <typename Visitor>
void visit_fields(Visitor& visit, Is<Footer> auto& footer) {
  visit("seconds", footer.seconds);
  visit("interrupted", footer.interrupted);
}

template <typename Visitor>
void visit_fields(Visitor& visit, Is<CalibrationHeader> auto& header) {
  visit("tare_version", header.tare_version);
  visit("date", header.date);
  visit("command", header.command);
  visit("machine", header.machine);
  visit("equivalence", header.equivalence);
  visit("seconds_per_row", header.seconds_per_row);
  visit("seed", header.seed);
  visit.later("accelerator", header.accelerator);
}

template <typename Visitor>
void visit_fields(Visitor& visit, Is<judge::Moment> auto& moment) {
  visit("reached", moment.reached);
  visit("region_seconds", moment.region_seconds);
  visit("wall_seconds", moment.wall_seconds);
}

template <typename Visitor>
void visit_fields(Visitor& visit, Is<judge::Trial> auto& trial) {
  visit("setting", trial.setting);
  visit("experiment", trial.experiment);
  visit("seed", trial.seed);
  visit("k", trial.k);
  visit("n", trial.n);
  visit("threads", trial.threads);
  visit("direction", trial.direction);
  visit("true_ratio", trial.true_ratio);
  visit("true_byte_ratio", trial.true_byte_ratio);
  visit("planted_region_seconds", trial.planted_region_seconds);
  visit("planted_dispatch_seconds", trial.planted_dispatch_seconds);
  visit("equal_arms", trial.equal_arms);
  visit("identifiable", trial.identifiable);
  visit("verdict", trial.verdict);
  visit("cause", trial.cause);
  visit("dispatch_win", trial.dispatch_win);
  visit("ratio", trial.ratio);
  visit("interval", trial.interval);
  visit("verdict_interval", trial.verdict_interval);
  visit("control_ratio", trial.control_ratio);
  visit("mean_ratio", trial.mean_ratio);
  visit("tail_ratio", trial.tail_ratio);
  visit("region_known", trial.region_known);
  visit("region_seconds", trial.region_seconds);
  visit("dispatch_known", trial.dispatch_known);
  visit("dispatch_seconds", trial.dispatch_seconds);
  visit("byte_ratio", trial.byte_ratio);
  visit("blocks", trial.blocks);
  visit("placements", trial.placements);
  visit("watched", trial.watched);
  visit("decided", trial.decided);
  visit("seen", trial.seen);
  visit("seen_direction", trial.seen_direction);
}

}  // namespace tare::report
