import GStreamerKit
import SDLLink
import X264Encoder

/// An encoder element outside of any pipeline, with two pads of ours: one pushes pictures into it, the other takes its
/// access units.
///
/// Calls of the element that may take long run on a thread of their own, and the caller waits for
/// ``EncoderThread/longestCall`` at most. An element that is stuck is abandoned with its thread.
final class DrivenElement {
  /// Objects that the thread uses too.
  // GStreamer's objects have locks of their own.
  private final class Parts: @unchecked Sendable {
    let element: ObjectReference<GstElement>
    /// The element itself, or the bin in which it is.
    let whole: ObjectReference<GstElement>
    let source: ObjectReference<GstPad>
    let sink: ObjectReference<GstPad>

    init(
      _ element: consuming ObjectReference<GstElement>, in whole: consuming ObjectReference<GstElement>,
      _ source: consuming ObjectReference<GstPad>, _ sink: consuming ObjectReference<GstPad>
    ) {
      self.element = element
      self.whole = whole
      self.source = source
      self.sink = sink
    }

    func stop() {
      // First, so that nothing waits in a push.
      gst_pad_set_active(source.pointer, 0)
      gst_pad_set_active(sink.pointer, 0)
      gst_element_set_state(whole.pointer, GST_STATE_NULL)
      gst_element_set_bus(whole.pointer, nil)
    }
  }

  let name: String
  private let keyFrameRequest: EncoderElement.KeyFrameRequest?
  private let parts: Parts
  private let output: EncoderOutput
  private let thread: EncoderThread

  /// Makes the element, which does not run yet.
  ///
  /// - Parameter settings: those of the pictures.
  init(_ kind: EncoderElement, _ settings: EncoderSettings, _ output: EncoderOutput) throws(EncoderError) {
    let name = kind.name
    let levels = kind.needsLevel ? StreamLevel.choices(for: settings) : []
    guard let element = EncoderFactory(name)?.make() else {
      throw .element("\(name) can't be made: its plugin can't be loaded.")
    }
    guard let result = ObjectReference(owning: gst_element_get_static_pad(element.pointer, "src")),
      let source = ObjectReference(owning: gst_pad_new("src", GST_PAD_SRC)),
      let sink = output.makePad(Self.takenCaps, preferred: Self.preferredCaps(of: result.pointer, levels)),
      let bus = output.makeBus()
    else { throw .element("\(name) has no pads sink and src.") }
    gst_object_ref_sink(source.pointer)
    let whole = try Self.whole(element.pointer, behind: kind.uploader)
    gst_element_set_bus(whole.pointer, bus.pointer)
    do {
      thread = try EncoderThread()
    } catch {
      throw .element("The thread of \(name) could not be started: \(error)")
    }
    self.name = name
    self.output = output
    keyFrameRequest = kind.keyFrameRequest
    parts = Parts(element, in: whole, source, sink)
  }

  /// The element, or a bin in which another one is linked in front of it.
  private static func whole(
    _ element: UnsafeMutablePointer<GstElement>, behind uploader: String?
  ) throws(EncoderError) -> ObjectReference<GstElement> {
    guard let uploader else { return ObjectReference(retaining: element) }
    guard let first = EncoderFactory(uploader)?.make(), let whole = ObjectReference(owning: gst_bin_new(nil)) else {
      throw .element("\(uploader) can't be made: its plugin can't be loaded.")
    }
    gst_object_ref_sink(whole.pointer)
    let bin = UnsafeMutableRawPointer(whole.pointer).assumingMemoryBound(to: GstBin.self)
    gst_bin_add(bin, first.pointer)
    gst_bin_add(bin, element)
    guard gst_element_link(first.pointer, element) != 0,
      let input = ObjectReference(owning: gst_element_get_static_pad(first.pointer, "sink")),
      let result = ObjectReference(owning: gst_element_get_static_pad(element, "src"))
    else { throw .element("\(uploader) does not give pictures for this encoder.") }
    gst_element_add_pad(whole.pointer, gst_ghost_pad_new("sink", input.pointer))
    gst_element_add_pad(whole.pointer, gst_ghost_pad_new("src", result.pointer))
    return whole
  }

  deinit {
    output.forgetListener()
    let parts = parts
    if thread.isStuck {
      // Some calls return then; but this call may block, too.
      try? WorkerThread.detach(name: "sdl-encoder") {
        gst_pad_push_event(parts.source.pointer, gst_event_new_flush_start())
      }
    }
    thread.callLast {
      parts.stop()
      return 0
    }
  }

  var pointer: UnsafeMutablePointer<GstElement> { parts.element.pointer }

  /// The caps that head units accept.
  private static var takenCaps: Caps { Caps(h264(profile: nil)) }

  /// The simplest profile that the element has, and the first of the levels.
  private static func preferredCaps(of pad: UnsafeMutablePointer<GstPad>, _ levels: [[String]]) -> Caps {
    let possible = Caps(owning: gst_pad_query_caps(pad, nil)) ?? Caps.template(of: pad)
    for profile in SinkCaps.profiles {
      let caps = Caps(h264(profile: profile))
      if !caps.intersected(with: possible).isEmpty { return restrict(caps, to: levels, possible) }
    }
    return restrict(takenCaps, to: levels, possible)
  }

  private static func restrict(
    _ caps: consuming Caps, to levels: [[String]], _ possible: borrowing Caps
  ) -> Caps {
    for names in levels {
      guard let accepted = Caps("video/x-h264,level=(string){\(names.joined(separator: ","))}") else { continue }
      let restricted = caps.intersected(with: accepted)
      if !restricted.intersected(with: possible).isEmpty { return restricted }
    }
    return caps
  }

  private static func h264(profile: String?) -> Structure {
    let structure = Structure("video/x-h264")
    structure.set("stream-format", "byte-stream")
    structure.set("alignment", "au")
    if let profile { structure.set("profile", profile) }
    return structure
  }

  private func call(_ work: @escaping EncoderThread.Work) throws(EncoderError) -> Int32 {
    if let result = thread.call(work) { return result }
    throw .element(
      "\(name) has not returned for \(EncoderThread.longestCall.components.seconds) s, and is abandoned: "
        + "set encoder to another element.")
  }

  /// Links and starts it, and sends it the caps.
  func start(_ caps: consuming Caps) throws(EncoderError) {
    guard let input = ObjectReference(owning: gst_element_get_static_pad(parts.whole.pointer, "sink")),
      let result = ObjectReference(owning: gst_element_get_static_pad(parts.whole.pointer, "src"))
    else { throw .element("\(name) has no pads sink and src.") }
    gst_pad_set_active(parts.source.pointer, 1)
    gst_pad_set_active(parts.sink.pointer, 1)
    guard gst_pad_link(parts.source.pointer, input.pointer) == GST_PAD_LINK_OK,
      gst_pad_link(result.pointer, parts.sink.pointer) == GST_PAD_LINK_OK
    else { throw .element("\(name) does not encode raw video as H.264.") }
    let parts = parts
    let hasStarted = try call {
      gst_element_set_state(parts.whole.pointer, GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE ? 0 : 1
    }
    guard hasStarted != 0 else {
      throw .element("\(name) does not start: \(output.failure ?? "it gives no reason").")
    }
    let text = caps.text
    let shared = caps.shared()
    let isTaken = try call {
      var segment = GstSegment()
      gst_segment_init(&segment, GST_FORMAT_TIME)
      gst_pad_push_event(parts.source.pointer, gst_event_new_stream_start("sdlvideosink"))
      guard gst_pad_push_event(parts.source.pointer, gst_event_new_caps(shared.pointer)) != 0 else { return 0 }
      gst_pad_push_event(parts.source.pointer, gst_event_new_segment(&segment))
      return 1
    }
    guard isTaken != 0 else { throw .element("\(name) does not accept \(text). \(output.failure ?? "")") }
  }

  func push(_ picture: consuming Buffer, asKeyFrame: Bool) throws(EncoderError) -> GstFlowReturn {
    let parts = parts
    let parcel = Parcel(picture)
    let request = keyFrameRequest
    let result = try call {
      guard let buffer = parcel.take() else { return GST_FLOW_ERROR.rawValue }
      if asKeyFrame {
        gst_pad_push_event(parts.sink.pointer, gst_video_event_new_upstream_force_key_unit(.max, 1, 0))
        request?.apply(to: parts.element.pointer)
      }
      return gst_pad_push(parts.source.pointer, buffer).rawValue
    }
    return GstFlowReturn(rawValue: result)
  }

  /// No picture follows.
  func end() {
    let parts = parts
    _ = try? call { gst_pad_push_event(parts.source.pointer, gst_event_new_eos()) }
  }
}

extension EncoderElement.KeyFrameRequest {
  fileprivate func apply(to element: UnsafeMutablePointer<GstElement>) {
    switch self {
    case .setting(let setting):
      let object: UnsafeMutablePointer<GObject> = element.cast()
      if EncoderProperty(object, setting.property) != nil {
        gst_util_set_object_arg(object, setting.property, setting.value)
      }
    case .signal(let name):
      guard let objectClass = element.pointee.object.object.g_type_instance.g_class else { return }
      let id = g_signal_lookup(name, objectClass.pointee.g_type)
      var query = GSignalQuery()
      g_signal_query(id, &query)
      guard query.signal_id != 0, query.n_params == 0 else { return }
      var owner = GValue()
      g_value_init(&owner, gst_element_get_type())
      g_value_set_object(&owner, element)
      g_signal_emitv(&owner, id, 0, nil)
      g_value_unset(&owner)
    }
  }
}

/// The levels of H.264 (table A-1), for encoders that do not choose the one that the pictures need.
enum StreamLevel {
  /// In macroblocks of 16×16 pixels. Lower levels hold no head unit's screen.
  private static let limits: [(name: String, perSecond: Int, size: Int)] = [
    ("3", 40_500, 1620), ("3.1", 108_000, 3600), ("3.2", 216_000, 5120), ("4", 245_760, 8192), ("4.1", 245_760, 8192),
    ("4.2", 522_240, 8704), ("5", 589_824, 22_080), ("5.1", 983_040, 36_864), ("5.2", 2_073_600, 36_864),
  ]

  /// The levels to ask for, the best choice first: those that suffice, of which an element takes the lowest; or one that
  /// does not, which costs speed.
  static func choices(for settings: EncoderSettings) -> [[String]] {
    let (width, height) = ((settings.width + 15) / 16, (settings.height + 15) / 16)
    let needed = Double(width * height) * settings.frameRate.value
    let first = limits.firstIndex { level in
      width * height <= level.size && max(width, height) * max(width, height) <= 8 * level.size
        && needed <= Double(level.perSecond)
    }
    let names = limits.map(\.name)
    let lower = names[..<(first ?? names.endIndex)].reversed().map { [$0] }
    return (first.map { [Array(names[$0...])] } ?? []) + lower
  }
}

/// A picture on its way to the thread: it is freed if the thread never takes it.
private final class Parcel: Sendable {
  // Its taker owns it.
  private struct Content: @unchecked Sendable {
    var buffer: UnsafeMutablePointer<GstBuffer>?
  }

  private let content: Monitor<Content>

  init(_ buffer: consuming Buffer) {
    content = Monitor(Content(buffer: buffer.take()))
  }

  deinit {
    if let buffer = take() { gst_buffer_unref(buffer) }
  }

  func take() -> UnsafeMutablePointer<GstBuffer>? { content.withLock { $0.buffer.take() } }
}
