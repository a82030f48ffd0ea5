import BackgroundNotice
import SDLLink

/// The background notice of a stream: what was prepared, and how much of it has been sent.
///
/// `@unchecked Sendable`: the progress is touched only on the connection thread; the preparation has a lock of its own.
final class NoticeSender: @unchecked Sendable {
  let preparation = NoticePreparation()
  var progress = NoticeProgress()

  var isRunning: Bool { progress.isRunning }

  /// The stream goes on, or is over.
  func end() {
    progress.end()
  }
}
