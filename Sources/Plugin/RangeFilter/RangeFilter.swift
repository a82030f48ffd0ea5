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
  /// Whether the probe for buffers without caps is on the sink pad.
  private let isWatching = Atomic(false)

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
  var sinkPad: UnsafeMutablePointer<GstPad> { cgst_base_transform_sink_pad(transform) }

  /// The app's ranges. While the filter runs, those that are valid: a minimum above its maximum may be set on the way to
  /// another range.
  var ranges: VideoRanges { run?.ranges ?? propertyRanges }

  /// From the children's properties.
  private var propertyRanges: VideoRanges {
    VideoRanges(landscape: children[0].settings.current, portrait: children[1].settings.current)
  }

  /// Nil in NULL and READY.
  var run: RangeFilterRun? { currentRun.withLock { $0 } }

  /// READY to PAUSED; false if values can't be used.
  func start() -> Bool {
    var errors = children.flatMap { $0.settings.refusals }
    let conflicts = children.flatMap(\.conflicts)
    if !conflicts.isEmpty { errors.append(Self.error(conflicts, "Change one of them.")) }
    for error in errors { postError(error) }
    guard errors.isEmpty else { return false }
    currentRun.withLock { $0 = RangeFilterRun(ranges: propertyRanges) }
    watchForBuffersWithoutCaps()
    return true
  }

  /// PAUSED to READY.
  func stop() {
    currentRun.withLock { $0 = nil }
  }

  private static func error(_ conflicts: [String], _ advice: String) -> ElementError {
    .resource(
      GST_RESOURCE_ERROR_SETTINGS, "No picture can have such a size: \(conflicts.joined(separator: "; ")). \(advice)")
  }

  /// A child's property was set: upstream is asked to negotiate with the new ranges, and the sink to choose again.
  /// Buffers of the former caps pass until the new ones come.
  func rangesChanged() {
    guard let run else { return }
    let conflicts = children.flatMap(\.conflicts)
    guard conflicts.isEmpty else {
      return warn(Self.error(conflicts, "The former range stays until one of them has changed."))
    }
    guard run.updateRanges({ propertyRanges }) else { return }
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
      && CapsSizes.fixedPicture(caps.pointer).map { run?.formerlyAccepted($0) == true } == true
    let restricted = isInFlight ? caps.shared() : restricted(caps, filter, direction)
    log(GST_LEVEL_DEBUG, "\(Caps.text(caps.pointer)) becomes \(Caps.text(restricted.pointer))")
    switch limit {
    case .some(let limit): return limit.intersected(with: restricted)
    case .none: return restricted
    }
  }

  private func restricted(_ caps: borrowing Caps, _ filter: VideoRangeFilter, _ direction: GstPadDirection) -> Caps {
    guard !filter.ranges.isUnlimited, !filter.supportsNone else { return caps.shared() }
    let isUpstream = direction == GST_PAD_SINK
    let input = isUpstream || filter.headUnit != .absent ? nil : InputPicture.find(before: sinkPad)
    var restricted = CapsRestriction(filter: filter, isUpstream: isUpstream, input: input).apply(to: caps)
    // Supported sizes are preferred, even if everything passes.
    if filter.acceptsEverything { restricted.merge(caps.shared()) }
    return restricted
  }

  /// GstBaseTransform's `accept_caps`. The core asks this before each CAPS event, which must come, because that can be
  /// refused with a reason (``handle(_:)``). Nobody else needs the answer in PAUSED, as converters choose from those to
  /// CAPS queries. In READY players ask.
  func acceptCaps(_ direction: GstPadDirection, _ caps: borrowing Caps) -> Bool {
    guard caps.isSubset(of: Caps.template(of: sourcePad)) else { return false }
    return run != nil && direction == GST_PAD_SINK || !transformCaps(direction, caps, limit: nil).isEmpty
  }

  /// GstBaseTransform's `sink_event`; takes the event's reference.
  func handle(_ event: UnsafeMutablePointer<GstEvent>) -> Bool {
    if event.pointee.type == GST_EVENT_CAPS {
      var caps: UnsafeMutablePointer<GstCaps>?
      gst_event_parse_caps(event, &caps)
      if let caps, let error = rejection(of: caps) {
        gst_event_unref(event)
        postError(error)
        return false
      }
    }
    return handleByParent(event)
  }

  private func rejection(of caps: UnsafeMutablePointer<GstCaps>) -> ElementError? {
    guard let picture = CapsSizes.fixedPicture(caps) else { return nil }
    let filter = makeFilter()
    guard run?.formerlyAccepted(picture) != true else { return nil }
    return rejection(of: picture, filter, isRaw: StructureView(caps: caps, 0)?.hasName("video/x-h264") == false)
  }

  private func rejection(of picture: VideoPicture, _ filter: VideoRangeFilter, isRaw: Bool) -> ElementError? {
    let reasons = filter.rejectionReasons(for: picture)
    guard !reasons.isEmpty else { return nil }
    let advice =
      filter.ranges.isDisabled
      ? "Enable one of them."
      : isRaw
        ? "Put videoconvertscale before sdlrangefilter, since a scaler after it comes too late, or change the range."
        : "Encode the stream in a size that the range allows, or change the range."
    return .stream(
      GST_STREAM_ERROR_FORMAT,
      "The app does not support these pictures. \(reasons.joined(separator: "; ")). \(advice)")
  }

  /// GstBaseTransform's `set_caps`.
  func setCaps(_ caps: UnsafePointer<GstCaps>) {
    guard let picture = CapsSizes.fixedPicture(caps), run?.capsArrived(picture) == true else { return }
    log(GST_LEVEL_INFO, "\(picture) was chosen before the ranges changed: asking upstream again")
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
    if direction == GST_PAD_SINK, query.pointee.type == GST_QUERY_CAPS { replaceEmptyAnswer(query) }
    return true
  }

  /// Upstream has nothing that the app supports. It may send it nevertheless, because the CAPS event can be refused with
  /// the reason, while an empty answer would end in upstream's own error, which does not know it.
  private func replaceEmptyAnswer(_ query: UnsafeMutablePointer<GstQuery>) {
    guard let run, let filter = run.filter, !filter.ranges.isUnlimited else { return }
    var (result, limit): (UnsafeMutablePointer<GstCaps>?, UnsafeMutablePointer<GstCaps>?)
    gst_query_parse_caps_result(query, &result)
    gst_query_parse_caps(query, &limit)
    guard let result, gst_caps_is_empty(result) != 0 else { return }
    var wanted = Caps.template(of: sourcePad)
    if let limit { wanted = Caps(retaining: limit).intersected(with: wanted) }
    guard let possible = Caps.peerQuery(sourcePad, filter: wanted), !possible.isEmpty else { return }
    // Upstream would keep its present caps without a new event.
    if let present = Caps.current(of: sinkPad), let picture = CapsSizes.fixedPicture(present.pointer),
      let error = rejection(
        of: picture, filter, isRaw: present.structure(at: 0)?.hasName("video/x-h264") == false)
    {
      return postError(error)
    }
    let answer = wanted.intersected(with: possible).take()
    gst_query_set_caps_result(query, answer)
    gst_caps_unref(answer)
  }

  /// Buffers without caps could have any size. The probe costs nothing once there are caps, because it is removed then.
  private func watchForBuffersWithoutCaps() {
    guard !isWatching.exchange(true, ordering: .relaxed) else { return }
    let types = GST_PAD_PROBE_TYPE_BUFFER.rawValue | GST_PAD_PROBE_TYPE_BUFFER_LIST.rawValue
    gst_pad_add_probe(
      sinkPad, GstPadProbeType(rawValue: types),
      { _, info, filter in
        RangeFilterType.object(of: filter).check(&info.unsafelyUnwrapped.pointee)
      }, transform, nil)
  }

  private func check(_ info: inout GstPadProbeInfo) -> GstPadProbeReturn {
    if Caps.current(of: sinkPad) != nil {
      isWatching.store(false, ordering: .relaxed)
      return GST_PAD_PROBE_REMOVE
    }
    guard !ranges.isUnlimited else { return GST_PAD_PROBE_OK }
    postError(
      .stream(
        GST_STREAM_ERROR_FORMAT,
        "The input has no caps, so its size is unknown. Put a parser such as h264parse before sdlrangefilter, or set "
          + "the caps of the source."))
    gst_mini_object_unref(info.data.assumingMemoryBound(to: GstMiniObject.self))
    info.data = nil
    info.ABI.abi.flow_ret = GST_FLOW_NOT_NEGOTIATED
    return GST_PAD_PROBE_HANDLED
  }
}

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
    transformClass.pointee.start = { RangeFilterType.object(of: $0).start() ? 1 : 0 }
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
    transformClass.pointee.sink_event = { RangeFilterType.object(of: $0).handle($1.unsafelyUnwrapped) ? 1 : 0 }
    transformClass.pointee.query = { filter, direction, query in
      RangeFilterType.object(of: filter).answer(direction, query.unsafelyUnwrapped) ? 1 : 0
    }
  }

  /// The parent's `sink_event`, which takes the event's reference.
  func handleByParent(_ event: UnsafeMutablePointer<GstEvent>) -> Bool {
    parentClass.pointee.sink_event(transform, event) != 0
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
    /// The valid ranges that were set last, which upstream and downstream have been notified of.
    var ranges: VideoRanges
    /// The event that notifies downstream has not been sent yet.
    var isNotificationPending = false
  }

  private let state: Mutex<State>

  init(ranges: VideoRanges) {
    state = Mutex(State(ranges: ranges))
  }

  var ranges: VideoRanges { state.withLock { $0.ranges } }

  /// The filter that answered the last query; nil before the first.
  var filter: VideoRangeFilter? { state.withLock { $0.history.current } }

  /// Queries are answered by `filter` from now on.
  func use(_ filter: VideoRangeFilter) {
    state.withLock { $0.history.use(filter) }
  }

  /// Whether an earlier answer allowed this picture.
  func formerlyAccepted(_ picture: VideoPicture) -> Bool { state.withLock { $0.history.formerlyAccepted(picture) } }

  /// Caps of this picture have arrived. Returns whether to ask upstream for others.
  func capsArrived(_ picture: VideoPicture) -> Bool { state.withLock { $0.history.capsArrived(picture) } }

  /// Reads the ranges inside the lock, so that of two threads that change properties the later one is not overwritten.
  /// Returns whether they are valid and differ from the last ones.
  func updateRanges(_ read: () -> VideoRanges) -> Bool {
    state.withLock { state in
      let ranges = read()
      guard ranges.isValid, ranges != state.ranges else { return false }
      state.ranges = ranges
      return true
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

/// The picture that comes to the scaler before the filter. A scaler takes the first size that it is offered, whatever
/// its input is, so the filter has to know the input to offer the nearest one first.
///
/// It is read from the caps of the pads upstream. That is no query, which an element that is negotiating could block,
/// and only a preference: without an answer the order is the usual one.
enum InputPicture {
  /// The most elements between the filter and the scaler's source.
  private static let maximumSteps = 16

  /// The nearest picture upstream of `pad`, a sink pad, that differs from the pad's own, which an earlier choice of the
  /// scaler may have led to; the pad's own if there is no other. Nil before upstream has sent caps.
  static func find(before pad: UnsafeMutablePointer<GstPad>) -> VideoPicture? {
    let present = picture(of: pad)
    var upstream = ObjectReference(owning: gst_pad_get_peer(pad))
    for _ in 0..<maximumSteps {
      guard let source = upstream.take() else { break }
      if let picture = picture(of: source.pointer), picture != present { return picture }
      guard let sink = sinkPad(before: source.pointer) else { break }
      upstream = ObjectReference(owning: gst_pad_get_peer(sink.pointer))
    }
    return present
  }

  private static func picture(of pad: UnsafeMutablePointer<GstPad>) -> VideoPicture? {
    guard let caps = Caps.current(of: pad) else { return nil }
    return CapsSizes.fixedPicture(caps.pointer)
  }

  /// The only pad from which the element, or the bin, feeds `pad`; nil if there is none, or if there are several.
  private static func sinkPad(before pad: UnsafeMutablePointer<GstPad>) -> ObjectReference<GstPad>? {
    guard let pads = gst_pad_iterate_internal_links(pad) else { return nil }
    defer { gst_iterator_free(pads) }
    var value = GValue()
    defer { if g_type_check_value(&value) != 0 { g_value_unset(&value) } }
    guard gst_iterator_next(pads, &value) == GST_ITERATOR_OK, let found = g_value_get_object(&value) else { return nil }
    let only = ObjectReference<GstPad>(retaining: UnsafeMutableRawPointer(found).assumingMemoryBound(to: GstPad.self))
    g_value_reset(&value)
    guard gst_iterator_next(pads, &value) == GST_ITERATOR_DONE else { return nil }
    return only
  }
}
