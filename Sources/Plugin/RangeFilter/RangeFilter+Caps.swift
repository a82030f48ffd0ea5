import CPluginTypes
import GStreamerKit
import SDLApp

/// The negotiation: caps in, fewer caps out, in the same order.
extension RangeFilter {
  /// Who judges now. What the head unit can show is asked for only if that matters.
  func currentJudge() -> VideoRangeJudge {
    let ranges = state.withLock { $0.ranges }
    let headUnit = ranges.isUnlimited ? .none : askForHeadUnit()
    let judge = VideoRangeJudge(ranges: ranges, headUnit: headUnit)
    state.withLock { $0.answers(judge) }
    return judge
  }

  private func askForHeadUnit() -> VideoRangeJudge.HeadUnit {
    let headUnit = CapabilityQuery.ask(cgst_base_transform_src_pad(element))
    // While the pipeline is being put together an SDL sink may still come.
    let isRunning = gst_pad_is_active(cgst_base_transform_src_pad(element)) != 0
    return headUnit == .none && !isRunning ? .silent : headUnit
  }

  func transformCaps(
    _ direction: GstPadDirection, _ caps: UnsafeMutablePointer<GstCaps>, filter: UnsafeMutablePointer<GstCaps>?
  ) -> UnsafeMutablePointer<GstCaps>? {
    let judge = currentJudge()
    let isUnderWay = direction == GST_PAD_SINK && CapsSizes.fixedSize(caps).map(passesByFormerJudge) == true
    let restricted = isUnderWay ? gst_caps_ref(caps) : restrict(caps, by: judge, direction)
    log(GST_LEVEL_DEBUG, "\(CapsSizes.text(caps)) becomes \(CapsSizes.text(restricted))")
    guard let filter, let restricted else { return restricted }
    defer { gst_caps_unref(restricted) }
    return gst_caps_intersect_full(filter, restricted, GST_CAPS_INTERSECT_FIRST)
  }

  private func restrict(
    _ caps: UnsafeMutablePointer<GstCaps>, by judge: VideoRangeJudge, _ direction: GstPadDirection
  ) -> UnsafeMutablePointer<GstCaps>? {
    guard !judge.ranges.isUnlimited, !judge.isHopeless else { return gst_caps_ref(caps) }
    let restricted = CapsSizes.restricted(caps, by: judge, isUpstream: direction == GST_PAD_SINK)
    guard judge.passesAll else { return restricted }
    // What the app supports is still what it would rather send.
    return gst_caps_merge(restricted, gst_caps_ref(caps))
  }

  /// As capsfilter with `caps-change-mode=delayed`: caps that upstream chose by an earlier answer still pass, because
  /// refusing what is under way would end the pipeline.
  private func passesByFormerJudge(_ size: VideoSize) -> Bool {
    state.withLock { $0.formerJudges }.contains { $0.accepts(size) }
  }

  func acceptCaps(_ direction: GstPadDirection, _ caps: UnsafeMutablePointer<GstCaps>) -> Bool {
    guard let template = gst_pad_get_pad_template_caps(cgst_base_transform_src_pad(element)) else { return false }
    defer { gst_caps_unref(template) }
    guard gst_caps_is_subset(caps, template) != 0, let left = transformCaps(direction, caps, filter: nil) else {
      return false
    }
    defer { gst_caps_unref(left) }
    guard gst_caps_is_empty(left) != 0 else { return true }
    // The core asks this before it hands over caps, and then refuses them; so this is where to say why. (A probe for the
    // event would cost every buffer.)
    if direction == GST_PAD_SINK, let size = CapsSizes.fixedSize(caps), let judge = state.withLock({ $0.judge }) {
      complain(judge.objections(to: size))
    }
    return false
  }

  func setCaps(_ caps: UnsafeMutablePointer<GstCaps>) {
    guard let size = CapsSizes.fixedSize(caps), state.withLock({ $0.flows(size) }) else { return }
    log(GST_LEVEL_INFO, "\(size) was chosen before the ranges changed: asking upstream again")
    gst_base_transform_reconfigure_sink(transform)
  }

  func answer(_ direction: GstPadDirection, _ query: UnsafeMutablePointer<GstQuery>) -> Bool {
    if direction == GST_PAD_SRC, RangesQuery.answer(query, state.withLock { $0.ranges }) {
      // Others further upstream may object as well.
      _ = gst_sdl_range_filter_parent_query(transform, direction, query)
      return true
    }
    let isAnswered = gst_sdl_range_filter_parent_query(transform, direction, query) != 0
    if isAnswered, direction == GST_PAD_SINK { CapabilityQuery.prune(query, by: state.withLock { $0.ranges }) }
    guard isAnswered, query.pointee.type == GST_QUERY_CAPS, let judge = state.withLock({ $0.judge }),
      !judge.ranges.isUnlimited
    else { return isAnswered }
    var result: UnsafeMutablePointer<GstCaps>?
    var filter: UnsafeMutablePointer<GstCaps>?
    gst_query_parse_caps_result(query, &result)
    gst_query_parse_caps(query, &filter)
    if let result, gst_caps_is_empty(result) != 0 { complain(judge, filter, direction) }
    return isAnswered
  }

  /// Nothing is left, because of who asks or because of what answers.
  private func complain(
    _ judge: VideoRangeJudge, _ filter: UnsafeMutablePointer<GstCaps>?, _ direction: GstPadDirection
  ) {
    var objections = filter.map { CapsSizes.objections(of: judge, to: $0) } ?? []
    if objections.isEmpty, direction == GST_PAD_SINK,
      let downstream = gst_pad_peer_query_caps(cgst_base_transform_src_pad(element), nil)
    {
      objections = CapsSizes.objections(of: judge, to: downstream)
      gst_caps_unref(downstream)
    }
    complain(objections)
  }
}
