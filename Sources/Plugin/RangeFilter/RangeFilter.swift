import GStreamerKit
import SDLApp
import Synchronization

/// The implementation of one `sdlrangefilter`: a GstBaseTransform in passthrough mode that restricts caps to the sizes
/// that the app supports.
///
/// A capsfilter can't do this: orientation and ratio can't be expressed in caps, and only the head unit knows its
/// diagonal and the size on its screen, which determines the ratio. So the filter queries them downstream
/// (``CapabilityQuery``).
///
/// Locks, outermost first: the pad's stream lock (taken by GStreamer) → the run's → a child's settings. None of ours is
/// held while calling GStreamer.
final class RangeFilter: GStreamerElement {
  // Unowned: the instance frees this object in finalize.
  nonisolated(unsafe) let transform: UnsafeMutablePointer<GstBaseTransform>
  /// In the order of GstChildProxy. The filter has a reference of each of its own: `dispose`, which is not always the
  /// end, gives up the parent's.
  private let children: [RangeChild]
  private let currentRun = Mutex<RangeFilterRun?>(nil)

  static let log = LogCategory("sdlrangefilter", "SmartDeviceLink range filter")

  private init(_ transform: UnsafeMutablePointer<GstBaseTransform>) {
    self.transform = transform
    children = ["landscape", "portrait"].map { RangeChild.make($0, parent: transform.cast()) }
  }

  deinit {
    for child in children { gst_object_unref(child.object) }
  }

  var gstElement: UnsafeMutablePointer<GstElement> { transform.cast() }
  var sourcePad: UnsafeMutablePointer<GstPad> { cgst_base_transform_src_pad(transform) }

  /// The app's ranges, from the children's properties.
  var ranges: VideoRanges {
    VideoRanges(landscape: children[0].settings.current, portrait: children[1].settings.current)
  }

  /// Nil in NULL and READY.
  var run: RangeFilterRun? { currentRun.withLock { $0 } }

  /// READY to PAUSED.
  func start() {
    for child in children {
      for refusal in child.settings.takeRefusals() { warn(refusal) }
    }
    currentRun.withLock { $0 = RangeFilterRun(ranges: ranges) }
  }

  /// PAUSED to READY.
  func stop() {
    currentRun.withLock { $0 = nil }
  }

  /// A child's property was set: upstream is asked to negotiate with the new ranges, and the sink to choose again.
  /// Buffers of the former caps pass until the new ones come.
  func rangesChanged() {
    guard let run, run.updateRanges({ self.ranges }) else { return }
    gst_base_transform_reconfigure_sink(transform)
    notifyDownstream(run)
  }

  /// Sends the event of ``RangesQuery`` from another thread, because an event may have to wait at a blocked pad, which
  /// perhaps only the thread that changes a property can unblock.
  private func notifyDownstream(_ run: RangeFilterRun) {
    guard run.beginNotification() else { return }
    gst_element_call_async(
      gstElement,
      { element, data in
        guard let element, let data else { return }
        let run = Unmanaged<RangeFilterRun>.fromOpaque(data).takeUnretainedValue()
        RangeFilterType.object(of: element).sendRangesChanged(run)
      },
      Unmanaged.passRetained(run).toOpaque(),
      { data in
        if let data { Unmanaged<RangeFilterRun>.fromOpaque(data).release() }
      })
  }

  private func sendRangesChanged(_ run: RangeFilterRun) {
    run.endNotification()
    guard self.run === run else { return }
    RangesQuery.changeEvent()?.push(on: sourcePad)
  }
}

/// Negotiation: caps in, fewer caps out, in the same order.
extension RangeFilter {
  /// The filter for the answer to a query. The head unit's displays are queried only if they matter.
  private func makeFilter() -> VideoRangeFilter {
    let ranges = self.ranges
    let filter = VideoRangeFilter(ranges: ranges, headUnit: ranges.isUnlimited ? .absent : queryHeadUnit())
    run?.use(filter)
    return filter
  }

  private func queryHeadUnit() -> VideoRangeFilter.HeadUnit {
    let headUnit = CapabilityQuery.ask(sourcePad)
    // While the pipeline is being built, an SDL sink may still be linked.
    return headUnit == .absent && run == nil ? .unknown : headUnit
  }

  /// GstBaseTransform's `transform_caps`.
  ///
  /// - Parameters:
  ///   - direction: of the pad that has `caps`.
  ///   - limit: caps that limit the answer, in their order.
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
    // Supported sizes are preferred, even if everything passes.
    if filter.acceptsEverything { restricted.merge(caps.shared()) }
    return restricted
  }

  /// GstBaseTransform's `accept_caps`. The core calls this before a CAPS event, so a refusal is explained here; a pad
  /// probe for the event would cost time for every buffer.
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
    // The restricted caps of the asking or of the answering element are empty.
    var reasons = limit.map { restriction.rejectionReasons(for: Caps(retaining: $0)) } ?? []
    if reasons.isEmpty, direction == GST_PAD_SINK, let downstream = Caps.peerQuery(sourcePad) {
      reasons = restriction.rejectionReasons(for: downstream)
    }
    warnOfRejection(reasons)
  }

  /// The most reasons in a warning.
  static let maximumReasons = 100

  /// Warns, once for each filter, that nothing passes; `reasons` is empty if the ranges are not the cause.
  func warnOfRejection(_ reasons: [String]) {
    guard !reasons.isEmpty else { return }
    let text =
      "No size is left that the app supports. " + reasons.prefix(Self.maximumReasons).joined(separator: "; ") + "."
    // While pads are being linked, this is no fault.
    guard let run else { return log(GST_LEVEL_INFO, text) }
    if run.isNew(text) { warn(.stream(GST_STREAM_ERROR_FORMAT, text)) }
  }
}

/// The type of the filter.
typealias RangeFilterType = ObjectType<GstBaseTransform, GstBaseTransformClass, RangeFilter>

nonisolated(unsafe) private let parentClass: UnsafeMutablePointer<GstBaseTransformClass> =
  retainedClass(gst_base_transform_get_type())

extension RangeFilter {
  static let type: GType = {
    let type = RangeFilterType.register("GstSdlRangeFilter", derivedFrom: gst_base_transform_get_type()) { filter, _ in
      RangeFilter.install(on: filter)
    } initInstance: { instance, _ in
      let filter = RangeFilter(RangeFilterType.parent(of: instance))
      RangeFilterType.attach(filter, to: instance)
      // In passthrough mode the base class costs the same as in a capsfilter: some 0.1 µs per buffer more than a chain
      // function that only pushes.
      gst_base_transform_set_passthrough(filter.transform, 1)
      gst_base_transform_set_gap_aware(filter.transform, 1)
      // As in capsfilter: downstream's preference counts, not the present caps.
      gst_base_transform_set_prefer_passthrough(filter.transform, 0)
    }
    var childProxy = GInterfaceInfo()
    childProxy.interface_init = { interface, _ in
      guard let proxy = interface?.assumingMemoryBound(to: GstChildProxyInterface.self) else { return }
      proxy.pointee.get_children_count = {
        guint(RangeFilterType.object(of: $0.map(UnsafeMutableRawPointer.init)).children.count)
      }
      proxy.pointee.get_child_by_index = { filter, index in
        let children = RangeFilterType.object(of: filter.map(UnsafeMutableRawPointer.init)).children
        guard children.indices.contains(Int(index)) else { return nil }
        return g_object_ref(children[Int(index)].object)?.assumingMemoryBound(to: GObject.self)
      }
    }
    g_type_add_interface_static(type, gst_child_proxy_get_type(), &childProxy)
    return type
  }()

  /// Formats for head units that have a size, in any memory.
  private static let caps = "video/x-raw(ANY); video/x-h264"

  private static func install(on filterClass: UnsafeMutableRawPointer?) {
    // Registers the debug category, which GST_DEBUG help then lists.
    _ = log
    guard let filterClass else { return }
    let objectClass = filterClass.assumingMemoryBound(to: GObjectClass.self)
    objectClass.pointee.dispose = { filter in
      for child in RangeFilterType.object(of: filter).children { child.unparent() }
      parentClass.pointee.parent_class.parent_class.parent_class.dispose(filter)
    }
    objectClass.pointee.finalize = { filter in
      _ = RangeFilterType.detach(from: filter)
      parentClass.pointee.parent_class.parent_class.parent_class.finalize(filter)
    }

    let elementClass = filterClass.assumingMemoryBound(to: GstElementClass.self)
    ElementDetails(
      "SmartDeviceLink Range Filter", "Filter/Video",
      """
      Restricts video to the sizes, aspect ratios and diagonals that an app for SmartDeviceLink head units supports; \
      they are set on its children, as in landscape::max-width=800 portrait::enabled=false
      """, .sink(caps), .source(caps)
    ).install(on: elementClass)
    // gst-inspect shows neither children nor their properties, but it does show every key of the metadata.
    let (key, children): (StaticString, StaticString) = (
      "children",
      """
      landscape and portrait; properties of each: enabled, min-width, min-height, max-width, max-height, min-diagonal, \
      min-aspect-ratio, max-aspect-ratio
      """
    )
    gst_element_class_add_static_metadata(elementClass, key.cString, children.cString)
    gst_type_mark_as_plugin_api(RangeChild.type, GstPluginAPIFlags(rawValue: 0))

    // GStreamer passes no NULL to them.
    let transformClass = filterClass.assumingMemoryBound(to: GstBaseTransformClass.self)
    transformClass.pointee.start = {
      RangeFilterType.object(of: $0).start()
      return 1
    }
    transformClass.pointee.stop = {
      RangeFilterType.object(of: $0).stop()
      return 1
    }
    transformClass.pointee.transform_caps = { filter, direction, caps, limit in
      RangeFilterType.object(of: filter)
        .transformCaps(direction, Caps(retaining: caps.unsafelyUnwrapped), limit: limit.map { Caps(retaining: $0) })
        .take()
    }
    transformClass.pointee.accept_caps = { filter, direction, caps in
      RangeFilterType.object(of: filter).acceptCaps(direction, Caps(retaining: caps.unsafelyUnwrapped)) ? 1 : 0
    }
    transformClass.pointee.set_caps = { filter, input, _ in
      RangeFilterType.object(of: filter).setCaps(input.unsafelyUnwrapped)
      return 1
    }
    transformClass.pointee.query = { filter, direction, query in
      RangeFilterType.object(of: filter).answer(direction, query.unsafelyUnwrapped) ? 1 : 0
    }
  }

  /// The parent's `query`.
  func answerByParent(_ direction: GstPadDirection, _ query: UnsafeMutablePointer<GstQuery>) -> Bool {
    parentClass.pointee.query(transform, direction, query) != 0
  }
}

/// The state of one run of the filter, from READY→PAUSED to PAUSED→READY. Each run has an object of its own, so that
/// late callbacks of one can't change the next.
final class RangeFilterRun: Sendable {
  private struct State {
    var history = VideoRangeFilterHistory()
    /// The ranges that upstream and downstream have been notified of.
    var ranges: VideoRanges
    /// The event that notifies downstream has not been sent yet.
    var isNotificationPending = false
  }

  private let state: Mutex<State>

  init(ranges: VideoRanges) {
    state = Mutex(State(ranges: ranges))
  }

  /// The filter that answered the last query; nil before the first.
  var filter: VideoRangeFilter? { state.withLock { $0.history.current } }

  /// Queries are answered by `filter` from now on.
  func use(_ filter: VideoRangeFilter) {
    state.withLock { $0.history.use(filter) }
  }

  /// Whether an earlier answer allowed pictures of `size`.
  func formerlyAccepted(_ size: VideoSize) -> Bool { state.withLock { $0.history.formerlyAccepted(size) } }

  /// Caps of `size` have arrived. Returns whether to ask upstream for others.
  func capsArrived(_ size: VideoSize) -> Bool { state.withLock { $0.history.capsArrived(size) } }

  /// Whether `warning` has not been given yet.
  func isNew(_ warning: String) -> Bool { state.withLock { $0.history.isNew(warning) } }

  /// Reads the ranges inside the lock, so that of two threads that change properties the later one is not overwritten.
  /// Returns whether they differ from the last ones.
  func updateRanges(_ read: () -> VideoRanges) -> Bool {
    state.withLock { state in
      let ranges = read()
      defer { state.ranges = ranges }
      return ranges != state.ranges
    }
  }

  /// Returns whether to send a notification; false while one is pending that will cover this change too.
  func beginNotification() -> Bool {
    state.withLock { state in
      defer { state.isNotificationPending = true }
      return !state.isNotificationPending
    }
  }

  /// The pending notification is about to be sent.
  func endNotification() {
    state.withLock { $0.isNotificationPending = false }
  }
}
