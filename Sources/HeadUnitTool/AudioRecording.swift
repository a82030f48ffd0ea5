import SDLHeadUnit
import SDLLink
import SDLMessages
import Synchronization

/// The sound of the apps, one utterance after the other, as a WAV file. Its header says "to the end of the file" until
/// the length is known.
final class AudioRecording: Sendable {
  private struct State: Sendable {
    /// The head unit's format; nil before the first sound.
    var format: PCMFormat?
    var byteCount = 0
  }

  private let file: Recording
  private let state = Mutex(State())

  /// Creates the file.
  init(path: String) throws(LinkError) {
    file = try Recording(path: path)
  }

  func start() throws(LinkError) {
    try file.start()
  }

  func note(_ event: HeadUnitSession.Event) {
    switch event {
    case .audioStarted(let format, _): begin(format)
    case .audioData(let bytes):
      state.withLock { $0.byteCount += bytes.count }
      file.append(bytes)
    case .audioStopped: completeHeader()
    default: break
    }
  }

  /// Waits until everything is written, or nothing more is read.
  func finish() {
    file.finish()
  }

  private func begin(_ format: PCMFormat) {
    let isFirst = state.withLock { state in
      defer { state.format = format }
      return state.format == nil
    }
    if isFirst { file.append(WAVHeader(format, dataByteCount: nil).bytes) }
  }

  private func completeHeader() {
    let state = state.withLock { $0 }
    guard let format = state.format else { return }
    file.replaceBeginning(WAVHeader(format, dataByteCount: state.byteCount).bytes)
  }
}
