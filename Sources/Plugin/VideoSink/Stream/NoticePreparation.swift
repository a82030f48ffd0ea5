import BackgroundNotice
import GStreamerKit
import Synchronization
import X264Encoder

/// The user's settings of the background notice.
struct NoticeSettings: Equatable, Sendable {
  var isShown = true
  var isRepeated = false
  /// Nil is the default text.
  var text: String?
}

struct NoticeRequest: Sendable {
  var text: String
  var settings: EncoderSettings

  /// Whether the same notice serves both: it may have another bitrate than the stream.
  fileprivate func isSame(as other: NoticeRequest) -> Bool {
    var settings = settings
    settings.bitrate = other.settings.bitrate
    settings.bufferSize = other.settings.bufferSize
    return text == other.text && settings == other.settings
  }
}

/// The notice for the present stream, drawn and encoded ahead on a thread of its own.
final class NoticePreparation: Sendable {
  private struct State: Sendable {
    var request: NoticeRequest?
    var isReady = false
    /// Nil when it could not be made.
    var sequence: NoticeSequence?
  }

  /// Making a notice costs as much as a hundred milliseconds of video, so it is not done while a stream starts.
  static let delay = Duration.seconds(2)

  private let state = Mutex(State())

  /// Nil while the notice is not ready; an inner nil when it could not be made.
  var result: NoticeSequence?? {
    state.withLock { $0.isReady ? .some($0.sequence) : nil }
  }

  /// Starts making a notice, unless it exists or is being made.
  ///
  /// - Parameter element: kept until then.
  func prepare(_ request: NoticeRequest, for element: UnsafeMutablePointer<GstElement>) {
    let isNew = state.withLock { state in
      guard state.request?.isSame(as: request) != true else { return false }
      state = State(request: request)
      return true
    }
    if isNew { NoticeQueue.shared.add(self, request, element) }
  }

  /// Draws and encodes. On the thread for notices.
  fileprivate func make(_ request: NoticeRequest) {
    guard state.withLock({ $0.request?.isSame(as: request) == true }) else { return }
    var sequence: NoticeSequence?
    #if WITHOUT_X264
      VideoSink.log.log(GST_LEVEL_WARNING, nil, "no background notice: this build has no libx264 to encode it")
    #else
      do {
        sequence = try NoticeSequence(text: request.text, settings: request.settings) { _, text in
          VideoSink.log.log(GST_LEVEL_WARNING, nil, "x264: \(text)")
        }
      } catch {
        VideoSink.log.log(GST_LEVEL_WARNING, nil, "no background notice: \(error)")
      }
    #endif
    state.withLock { state in
      guard state.request?.isSame(as: request) == true else { return }
      state.sequence = sequence
      state.isReady = true
    }
  }
}

/// Notices to be made, which takes as long as several frames: not on the threads of the stream.
///
/// One after the other for all sinks of the process. Where there are many streams, they often begin at the same time;
/// notices should not take the processors from them, nor need memory for x264 and Pango several times.
private final class NoticeQueue: Sendable {
  private struct Entry: Sendable {
    let preparation: NoticePreparation
    let request: NoticeRequest
    // Kept by a reference of the entry's own until it is carried out.
    nonisolated(unsafe) let element: UnsafeMutablePointer<GstElement>
  }

  private struct State: Sendable {
    var entries: [Entry] = []
    /// A thread makes notices, and does not end before it has seen the queue empty.
    var isServed = false
  }

  static let shared = NoticeQueue()

  private let state = Mutex(State())

  func add(_ preparation: NoticePreparation, _ request: NoticeRequest, _ element: UnsafeMutablePointer<GstElement>) {
    gst_object_ref(element)
    let entry = Entry(preparation: preparation, request: request, element: element)
    let isServed = state.withLock { state in
      state.entries.append(entry)
      defer { state.isServed = true }
      return state.isServed
    }
    guard !isServed else { return }
    // GStreamer's own thread, which gst_deinit waits for.
    gst_element_call_async(element, { _, _ in NoticeQueue.shared.makeAll() }, nil, nil)
  }

  private func makeAll() {
    while let entry = takeNext() {
      entry.preparation.make(entry.request)
      gst_object_unref(entry.element)
    }
  }

  private func takeNext() -> Entry? {
    state.withLock { state in
      guard !state.entries.isEmpty else {
        state.isServed = false
        return nil
      }
      return state.entries.removeFirst()
    }
  }
}
