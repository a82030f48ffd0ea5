import CarWindow
import GStreamerKit
import Glibc

/// The pipeline from the program to the car, and the messages about it.
final class Session {
  /// Why it can't begin.
  struct Failure: Error, CustomStringConvertible {
    var description: String
  }

  private let pipeline: UnsafeMutablePointer<GstElement>
  private let isRecording: Bool
  private let began = Session.clock()
  private let silence = SilenceGate()
  private let sound: ProgramSound?

  /// Of a recording.
  private static let longestCompletion = GstClockTime(2_000_000_000)

  /// Advice for elements that may be missing.
  private static let packages: [(element: String, advice: String)] = [
    ("appsrc", "install gstreamer1.0-plugins-base"),
    ("audioconvert", "install gstreamer1.0-plugins-base, or use --no-sound"),
    ("audioresample", "install gstreamer1.0-plugins-base, or use --no-sound"),
    ("videoconvert", "install gstreamer1.0-plugins-base"),
    ("opusenc", "install gstreamer1.0-plugins-base for --record"),
    ("autovideosink", "install gstreamer1.0-plugins-good for --preview"),
    ("x264enc", "install gstreamer1.0-plugins-ugly for --record"),
    ("h264parse", "install gstreamer1.0-plugins-bad for --record"),
    ("matroskamux", "install gstreamer1.0-plugins-good for --record"),
  ]

  /// To a file in which the picture may change its size. Pictures and sound for which disk or processor have no time
  /// are left out, so that the car never waits. The second queue holds the picture while the sound server has not
  /// begun.
  private static let pictureRecorder =
    " screen. ! queue max-size-buffers=5 leaky=downstream ! videoconvert ! "
    + "x264enc tune=zerolatency speed-preset=veryfast pass=qual quantizer=21 key-int-max=60 ! "
    + "h264parse config-interval=-1 ! video/x-h264,stream-format=avc3 ! "
    + "queue max-size-buffers=0 max-size-time=0 max-size-bytes=50000000 ! "
    + "matroskamux name=file ! filesink name=recording async=false sync=false"
  private static let soundRecorder =
    " played. ! queue leaky=downstream ! audioconvert ! audioresample ! opusenc ! queue ! file."

  init(_ options: Options) throws(Failure) {
    sound = options.hasSound ? Self.sound(of: options.name, began) : nil
    var description = "sdlcarwindowsrc name=window ! video/x-raw,framerate=\(options.frameRate)/1 ! "
    let toCar = "queue max-size-buffers=1 leaky=downstream ! sdlvideosink name=video"
    description += options.hasPreview || options.recording != nil ? "tee name=screen screen. ! \(toCar)" : toCar
    if options.hasPreview {
      description += " screen. ! queue max-size-buffers=2 leaky=downstream ! videoconvert ! autovideosink sync=false"
    }
    isRecording = options.recording != nil
    if isRecording { description += Self.pictureRecorder }
    if sound != nil {
      description +=
        " appsrc name=player is-live=true format=time leaky-type=downstream max-bytes=100000 "
        + "min-latency=40000000 caps=\(SoundFeed.caps) ! tee name=played "
        + "played. ! queue name=heard ! audioconvert ! audioresample ! sdlaudiosink name=sound start-on-data=true idle-timeout=1000 async=false"
      if isRecording { description += Self.soundRecorder }
    }
    var error: UnsafeMutablePointer<GError>?
    let parsed = gst_parse_launch(description, &error)
    if let error {
      let text = String(cString: error.pointee.message)
      g_error_free(error)
      let advice = Self.packages.first { text.contains("\"\($0.element)\"") }?.advice
      throw Failure(description: "\(text): \(advice ?? "is the plugin installed, or in GST_PLUGIN_PATH?")")
    }
    guard let parsed else { throw Failure(description: "there is no pipeline") }
    gst_object_ref_sink(parsed)
    pipeline = parsed
    try apply(options)
    try startSound()
  }

  deinit {
    gst_object_unref(pipeline)
  }

  /// Without sound the picture goes on.
  private static func sound(of program: String, _ began: Double) -> ProgramSound? {
    do throws(CarWindowError) {
      return try ProgramSound(title: program, guardedBy: .thisProgram)
    } catch {
      say("warning: the sound is not heard in the car: \(error). --no-sound hides this warning", began)
      return nil
    }
  }

  private func startSound() throws(Failure) {
    guard let sound, let player = gst_bin_get_by_name(pipeline.cast(), "player") else { return }
    defer { gst_object_unref(player) }
    let feed = SoundFeed(player, fillsPauses: isRecording) { [began] error in
      Self.say("warning: \(error)", began)
    }
    do throws(CarWindowError) {
      try sound.start(tellsSilence: isRecording) { feed.receive($0) }
    } catch {
      throw Failure(description: "\(error)")
    }
  }

  private func apply(_ options: Options) throws(Failure) {
    let quoted = { (words: [String]) in
      words.map { String(freeing: g_shell_quote($0)) ?? "" }.joined(separator: " ")
    }
    try set("window", "command", options.command.isEmpty ? nil : quoted(options.command))
    try set("window", "restart", "\(options.restarts)")
    if !options.hasHaptics { try set("window", "haptics", "none") }
    try set("window", "display", options.display)
    try set("window", "inject-input", "\(options.injectsInput)")
    try set("window", "max-width", options.maximumSize.map { "\($0.width)" })
    try set("window", "max-height", options.maximumSize.map { "\($0.height)" })
    // Of the picture; a smaller screen is scaled up.
    try set("video", "max-width", options.maximumSize.map { "\($0.width)" }, raises: true)
    try set("video", "max-height", options.maximumSize.map { "\($0.height)" }, raises: true)
    try set("window", "environment", sound.map { quoted($0.environment.map { "\($0)=\($1)" }) })
    try set("recording", "location", options.recording)
    for (property, value) in options.sinkProperties {
      for sink in ["video", "sound"] { try set(sink, property, value) }
    }
    if let heard = gst_bin_get_by_name(pipeline.cast(), "heard") {
      silence.watch(heard)
      gst_object_unref(heard)
    }
  }

  /// Sets a property of an element that may not be there; nil leaves it as it is, and so does a value below its default
  /// if that may only be raised.
  private func set(_ element: String, _ property: String, _ value: String?, raises: Bool = false) throws(Failure) {
    guard let value, let found = gst_bin_get_by_name(pipeline.cast(), element) else { return }
    defer { gst_object_unref(found) }
    let object: UnsafeMutablePointer<GObject> = found.cast()
    let objectClass = UnsafeMutableRawPointer(object.pointee.g_type_instance.g_class)
    guard
      let specification = g_object_class_find_property(
        objectClass?.assumingMemoryBound(to: GObjectClass.self), property)
    else { return }
    var typed = GValue()
    g_value_init(&typed, specification.pointee.value_type)
    defer { g_value_unset(&typed) }
    guard gst_value_deserialize(&typed, value) != 0 else {
      throw Failure(description: "'\(value)' is no value of --\(property)")
    }
    if raises, g_param_values_cmp(specification, &typed, g_param_spec_get_default_value(specification)) < 0 { return }
    g_object_set_property(object, property, &typed)
  }

  /// Streams until the program ends, or one of the signals comes.
  ///
  /// - Returns: this program's exit status.
  func run(until signals: sigset_t) -> Int32 {
    _ = SignalWatch(signals, pipeline)
    defer {
      gst_element_set_state(pipeline, GST_STATE_NULL)
      // After the program, which may have played until then.
      sound?.stop()
    }
    guard let bus = gst_element_get_bus(pipeline) else { return 1 }
    defer { gst_object_unref(bus) }
    _ = gst_element_set_state(pipeline, GST_STATE_PLAYING)
    while let message = gst_bus_timed_pop(bus, .max) {
      defer { gst_mini_object_unref(UnsafeMutableRawPointer(message).assumingMemoryBound(to: GstMiniObject.self)) }
      guard let status = handle(message) else { continue }
      if isRecording { completeRecording(bus) }
      return status
    }
    return 1
  }

  /// The file gets its length and its index. Without these it can be played as well.
  private func completeRecording(_ bus: UnsafeMutablePointer<GstBus>) {
    gst_element_send_event(pipeline, gst_event_new_eos())
    let end = gst_bus_timed_pop_filtered(bus, Self.longestCompletion, GST_MESSAGE_EOS)
    if let end { gst_mini_object_unref(UnsafeMutableRawPointer(end).assumingMemoryBound(to: GstMiniObject.self)) }
  }

  /// - Returns: the program's exit status, if the message is the end.
  private func handle(_ message: UnsafeMutablePointer<GstMessage>) -> Int32? {
    switch message.pointee.type {
    case GST_MESSAGE_ERROR, GST_MESSAGE_WARNING:
      var error: UnsafeMutablePointer<GError>?
      let isError = message.pointee.type == GST_MESSAGE_ERROR
      if isError {
        gst_message_parse_error(message, &error, nil)
      } else {
        gst_message_parse_warning(message, &error, nil)
      }
      defer { g_clear_error(&error) }
      let text = error.map { OptionWords.text(String(cString: $0.pointee.message)) } ?? "?"
      say("\(isError ? "error" : "warning"): \(text)")
      return isError ? 1 : nil
    case GST_MESSAGE_PROGRESS:
      var text: UnsafeMutablePointer<CChar>?
      gst_message_parse_progress(message, nil, nil, &text)
      if let text = String(freeing: text) { say(text) }
      return nil
    case GST_MESSAGE_EOS: return 0
    case GST_MESSAGE_APPLICATION:
      let signal = StructureView(gst_message_get_structure(message))?.integer(SignalWatch.field)
      // As from a shell whose program was ended by it.
      return 128 + (signal.map { Int32(truncatingIfNeeded: $0) } ?? SIGINT)
    case GST_MESSAGE_ELEMENT: return StructureView(gst_message_get_structure(message)).flatMap(handle)
    default: return nil
    }
  }

  private func handle(_ structure: StructureView) -> Int32? {
    let reason = structure.string("reason") ?? "?"
    let what = structure.string("service") == "audio" ? "sound" : "picture"
    if structure.hasName("sdl-stream-started") {
      let size = structure.integer("width").flatMap { width in structure.integer("height").map { "\(width)×\($0)" } }
      say("\(what) started (\(reason))\(size.map { ": \($0)" } ?? "")")
    } else if structure.hasName("sdl-stream-stopped") || structure.hasName("sdl-stream-suspended") {
      say("\(what) stopped (\(reason))")
    } else if structure.hasName("sdl-disconnected") {
      say("disconnected (\(reason))")
    } else if structure.hasName("sdl-program-ended") {
      let status = structure.integer("exit-status") ?? 1
      let restarts = structure.boolean("restarts") == true
      say("the program has ended with the status \(status)\(restarts ? ", and is started again" : "")")
      for line in (structure.string("output") ?? "").split(separator: "\n") { say("  \(line)") }
      return restarts ? nil : status
    }
    return nil
  }

  private func say(_ text: String) { Self.say(text, began) }

  private static func say(_ text: String, _ began: Double) {
    let hundredths = Int((clock() - began) * 100)
    let time = "\(hundredths / 100).\(hundredths % 100 < 10 ? "0" : "")\(hundredths % 100)"
    // Each line at once, also into a pipe.
    let line = Array("\(String(repeating: " ", count: max(0, 6 - time.utf8.count)))\(time) s  \(text)\n".utf8)
    _ = write(STDOUT_FILENO, line, line.count)
  }

  private static func clock() -> Double {
    Double(g_get_monotonic_time()) / 1_000_000
  }
}

/// A thread that puts the first of some signals on a pipeline's bus, as an application message. It lives as long as the
/// process.
private final class SignalWatch {
  /// Of its message: the number of the signal.
  static let field = "signal"

  private var signals: sigset_t
  private let pipeline: UnsafeMutablePointer<GstElement>

  init(_ signals: sigset_t, _ pipeline: UnsafeMutablePointer<GstElement>) {
    self.signals = signals
    // For good: a signal may come when the session is gone.
    gst_object_ref(pipeline)
    self.pipeline = pipeline
    var thread = pthread_t()
    pthread_create(
      &thread, nil,
      { watch in
        if let watch { Unmanaged<SignalWatch>.fromOpaque(watch).takeUnretainedValue().wait() }
        return nil
      }, Unmanaged.passRetained(self).toOpaque())
  }

  private func wait() {
    var signal: Int32 = 0
    sigwait(&signals, &signal)
    let structure = Structure("interrupted")
    structure.set(Self.field, signal)
    gst_element_post_message(pipeline, gst_message_new_application(pipeline.cast(), structure.take()))
  }
}

/// Passes sound, but drops the silence of a sound server while nothing plays: a head unit lowers the radio as long as
/// an app sends anything.
///
/// It lives as long as the process, as the pad's probe refers to it.
final class SilenceGate {
  /// How much silence passes after a sound, so that pauses between words stay.
  private static let longestPause = GstClockTime(500_000_000)

  private var lastSound: GstClockTime?

  /// Checks the buffers that leave an element.
  func watch(_ element: UnsafeMutablePointer<GstElement>) {
    guard let pad = gst_element_get_static_pad(element, "src") else { return }
    gst_pad_add_probe(
      pad, GST_PAD_PROBE_TYPE_BUFFER,
      { _, info, gate in
        guard let gate, let buffer = info?.pointee.data?.assumingMemoryBound(to: GstBuffer.self) else {
          return GST_PAD_PROBE_OK
        }
        return Unmanaged<SilenceGate>.fromOpaque(gate).takeUnretainedValue().passes(buffer)
          ? GST_PAD_PROBE_OK : GST_PAD_PROBE_DROP
      }, Unmanaged.passRetained(self).toOpaque(), nil)
    gst_object_unref(pad)
  }

  private func passes(_ buffer: UnsafeMutablePointer<GstBuffer>) -> Bool {
    var map = GstMapInfo()
    guard gst_buffer_map(buffer, &map, GST_MAP_READ) != 0 else { return true }
    defer { gst_buffer_unmap(buffer, &map) }
    let isSilent = UnsafeRawBufferPointer(start: map.data, count: Int(map.size)).allSatisfy { $0 == 0 }
    guard isSilent else {
      lastSound = buffer.pointee.pts
      return true
    }
    return lastSound.map { buffer.pointee.pts &- $0 < Self.longestPause } ?? false
  }
}
