import Glibc
import SDLHeadUnit
import SDLLink
import SDLMessages
import Synchronization

/// A file, or a pipe, that grows while an app streams. Bytes that a pipe's reader does not take in time are left out.
final class Recording: Sendable {
  /// A minute of video.
  private static let maximumByteCount = 64 << 20

  private let file: BackgroundFile
  private let isFailureReported = Atomic(false)

  /// Creates the file. Waits for the reader of a pipe.
  init(path: String) throws(LinkError) {
    file = try BackgroundFile(creating: path, name: "recording", maximumByteCount: Self.maximumByteCount)
  }

  func start() throws(LinkError) {
    try file.start()
  }

  /// Adds to the end of the file.
  func append(_ bytes: [UInt8]) {
    switch file.append(bytes) {
    case .added(after: 0), .omitted(isFirst: false): break
    case .added(after: let omitted): printLine("recording continues after \(omitted) dropped messages")
    case .omitted(isFirst: true): printLine("recording interrupted: the reader is too slow")
    case .failed(let code):
      guard !isFailureReported.exchange(true, ordering: .relaxed) else { return }
      printLine("recording failed: \(LinkError.system(operation: "write", errno: code))")
    }
  }

  /// Replaces as many bytes at the beginning of the file. Without effect on a pipe, which has no beginning.
  func replaceBeginning(_ bytes: [UInt8]) {
    file.replaceBeginning(bytes)
  }

  /// Waits until everything is written, or nothing more is read.
  func finish() {
    file.finish()
  }
}

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
