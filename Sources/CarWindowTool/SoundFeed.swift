import CarWindow
import GStreamerKit

/// Puts the sound of a program into the pipeline, with the times at which it was played.
///
/// The thread of the sound uses it, which the session starts last and ends first.
final class SoundFeed: @unchecked Sendable {
  /// Of the samples.
  static let caps = "audio/x-raw,format=S16LE,layout=interleaved,rate=48000,channels=2"
  private static let bytesPerSecond: GstClockTime = 192_000
  private static let second: GstClockTime = 1_000_000_000
  /// How far the arrival of samples may be from the end of those before them, because threads wait.
  private static let largestJitter: GstClockTime = 60_000_000
  /// Without sound for so long, a pause has begun.
  private static let shortestPause: GstClockTime = 300_000_000

  private let source: UnsafeMutablePointer<GstElement>
  private let fillsPauses: Bool
  private let lost: @Sendable (CarWindowError) -> Void
  /// The running time at the end of the samples so far.
  private var end: GstClockTime?

  /// - Parameters:
  ///   - source: an appsrc.
  ///   - fillsPauses: whether silence is made where nothing is played: a muxer waits for sound.
  ///   - lost: gets the reason when no more comes.
  init(
    _ source: UnsafeMutablePointer<GstElement>, fillsPauses: Bool, lost: @escaping @Sendable (CarWindowError) -> Void
  ) {
    gst_object_ref(source)
    self.source = source
    self.fillsPauses = fillsPauses
    self.lost = lost
  }

  deinit {
    gst_object_unref(source)
  }

  func receive(_ event: ProgramSound.Event) {
    if case .lost(let error) = event { lost(error) }
    let now = gst_element_get_current_running_time(source)
    // Before the pipeline plays there is no time.
    guard now != .max else { return }
    switch event {
    case .lost: break
    case .samples(let bytes):
      let start = now - min(now, Self.duration(of: bytes.count))
      if end.map({ max($0, start) - min($0, start) > Self.largestJitter }) ?? true { begin(at: start) }
      push(bytes)
    case .silence:
      guard fillsPauses else { break }
      if end == nil { end = now }
      if let end, now > end + Self.shortestPause { fill(until: now) }
    }
  }

  private static func duration(of byteCount: Int) -> GstClockTime { GstClockTime(byteCount) * second / bytesPerSecond }

  private func begin(at start: GstClockTime) {
    if fillsPauses, let end, end < start { fill(until: start) } else { end = start }
  }

  private func fill(until time: GstClockTime) {
    guard let end, end < time else { return }
    // A machine that stood still for longer has lost its sound anyway.
    let length = min(time - end, Self.second)
    push([UInt8](repeating: 0, count: Int(length * Self.bytesPerSecond / Self.second) / 4 * 4))
    self.end = time
  }

  private func push(_ bytes: [UInt8]) {
    guard let start = end, let buffer = gst_buffer_new_allocate(nil, gsize(bytes.count), nil) else { return }
    _ = bytes.withUnsafeBytes { gst_buffer_fill(buffer, 0, $0.baseAddress, gsize($0.count)) }
    let duration = Self.duration(of: bytes.count)
    (buffer.pointee.pts, buffer.pointee.duration) = (start, duration)
    end = start + duration
    emit(buffer)
    gst_mini_object_unref(UnsafeMutableRawPointer(buffer).assumingMemoryBound(to: GstMiniObject.self))
  }

  /// By the action signal, so that no library has to be linked for it.
  private func emit(_ buffer: UnsafeMutablePointer<GstBuffer>) {
    var values = [GValue(), GValue()]
    var result = GValue()
    g_value_init(&values[0], gst_element_get_type())
    g_value_set_object(&values[0], source)
    g_value_init(&values[1], gst_buffer_get_type())
    g_value_set_boxed(&values[1], buffer)
    g_value_init(&result, gst_flow_return_get_type())
    g_signal_emitv(values, g_signal_lookup("push-buffer", Self.type(of: source)), 0, &result)
    for index in values.indices { g_value_unset(&values[index]) }
    g_value_unset(&result)
  }

  private static func type(of element: UnsafeMutablePointer<GstElement>) -> GType {
    let object: UnsafeMutablePointer<GTypeInstance> = UnsafeMutableRawPointer(element)
      .assumingMemoryBound(to: GTypeInstance.self)
    return object.pointee.g_class.pointee.g_type
  }
}
