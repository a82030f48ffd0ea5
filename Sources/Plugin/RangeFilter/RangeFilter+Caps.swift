import GStreamerKit
import SDLApp

/// Negotiation: caps in, fewer caps out, in the same order.
extension RangeFilter {
  /// The filter to answer a query by. The head unit's displays are asked for only if they matter.
  private func makeFilter() -> VideoRangeFilter {
    let ranges = self.ranges
    let filter = VideoRangeFilter(ranges: ranges, headUnit: ranges.isUnlimited ? .absent : queryHeadUnit())
    run?.use(filter)
    return filter
  }

  private func queryHeadUnit() -> VideoRangeFilter.HeadUnit {
    let headUnit = CapabilityQuery.ask(sourcePad)
    // While the pipeline is being put together an SDL sink may still be linked.
    return headUnit == .absent && run == nil ? .unknown : headUnit
  }

  /// GstBaseTransform's `transform_caps`.
  ///
  /// - Parameters:
  ///   - direction: of the pad that has `caps`.
  ///   - limit: caps that the answer must be within, in whose order it is.
  func transformCaps(_ direction: GstPadDirection, _ caps: borrowing Caps, limit: borrowing Caps?) -> Caps {
    let filter = makeFilter()
    let isInFlight =
      direction == GST_PAD_SINK
      && CapsSizes.fixedSize(caps.pointer).map { run?.formerlyAccepted($0) == true } == true
    let restricted = isInFlight ? caps.shared() : restricted(caps, filter, direction)
    log(GST_LEVEL_DEBUG, "\(Caps.text(caps.pointer)) becomes \(Caps.text(restricted.pointer))")
    switch limit {
    case .some(let limit): return limit.intersected(with: restricted)
    case .none: return restricted
    }
  }

  private func restricted(_ caps: borrowing Caps, _ filter: VideoRangeFilter, _ direction: GstPadDirection) -> Caps {
    guard !filter.ranges.isUnlimited, !filter.supportsNone else { return caps.shared() }
    var restricted = CapsRestriction(filter: filter, isUpstream: direction == GST_PAD_SINK).apply(to: caps)
    // What the app supports is preferred, even if everything passes.
    if filter.acceptsEverything { restricted.merge(caps.shared()) }
    return restricted
  }

  /// GstBaseTransform's `accept_caps`. The core calls this before a CAPS event, so a refusal is explained here; a pad
  /// probe for the event would cost something for every buffer.
  func acceptCaps(_ direction: GstPadDirection, _ caps: borrowing Caps) -> Bool {
    guard caps.isSubset(of: Caps.template(of: sourcePad)) else { return false }
    guard transformCaps(direction, caps, limit: nil).isEmpty else { return true }
    if direction == GST_PAD_SINK, let size = CapsSizes.fixedSize(caps.pointer), let filter = run?.filter {
      warnOfRejection(filter.rejectionReasons(for: size))
    }
    return false
  }

  /// GstBaseTransform's `set_caps`.
  func setCaps(_ caps: UnsafePointer<GstCaps>) {
    guard let size = CapsSizes.fixedSize(caps), run?.capsArrived(size) == true else { return }
    log(GST_LEVEL_INFO, "\(size) was chosen before the ranges changed: asking upstream again")
    gst_base_transform_reconfigure_sink(transform)
  }

  /// GstBaseTransform's `query`.
  func answer(_ direction: GstPadDirection, _ query: UnsafeMutablePointer<GstQuery>) -> Bool {
    if direction == GST_PAD_SRC, RangesQuery.answer(query, ranges) {
      // Other filters further upstream may reject displays as well.
      _ = answerByParent(direction, query)
      return true
    }
    guard answerByParent(direction, query) else { return false }
    if direction == GST_PAD_SINK { CapabilityQuery.restrict(query, to: ranges) }
    if query.pointee.type == GST_QUERY_CAPS { explainEmptyAnswer(query, direction) }
    return true
  }

  private func explainEmptyAnswer(_ query: UnsafeMutablePointer<GstQuery>, _ direction: GstPadDirection) {
    guard let filter = run?.filter, !filter.ranges.isUnlimited else { return }
    var result: UnsafeMutablePointer<GstCaps>?
    var limit: UnsafeMutablePointer<GstCaps>?
    gst_query_parse_caps_result(query, &result)
    gst_query_parse_caps(query, &limit)
    guard let result, gst_caps_is_empty(result) != 0 else { return }
    let restriction = CapsRestriction(filter: filter, isUpstream: false)
    // Nothing is left of the caps of the asking element, or of those of the element that answers.
    var reasons = limit.map { restriction.rejectionReasons(for: Caps(retaining: $0)) } ?? []
    if reasons.isEmpty, direction == GST_PAD_SINK, let downstream = Caps.peerQuery(sourcePad) {
      reasons = restriction.rejectionReasons(for: downstream)
    }
    warnOfRejection(reasons)
  }
}
