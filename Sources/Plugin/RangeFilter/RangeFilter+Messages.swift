import GStreamerKit
import SDLApp

/// Warnings: of numbers that were refused, and of nothing being left.
extension RangeFilter {
  /// The most objections that are told in full.
  private static let mostObjections = 100

  /// Says why nothing passes, once; nothing if the ranges are not to blame.
  func complain(_ objections: [String]) {
    guard !objections.isEmpty else { return }
    let text =
      "Nothing is left that the app supports. "
      + objections.prefix(Self.mostObjections).joined(separator: "; ") + "."
    guard state.withLock({ $0.complains(text) }) else { return }
    let complaint = ElementError.stream(GST_STREAM_ERROR_FORMAT, text)
    // While pads are being linked nothing has gone wrong yet, so this one does not wait for a bus.
    if hasBus { warn(complaint) } else { log(GST_LEVEL_INFO, complaint.text) }
  }
}
