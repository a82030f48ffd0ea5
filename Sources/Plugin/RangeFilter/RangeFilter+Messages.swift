import GStreamerKit

/// What the filter reports on the bus.
extension RangeFilter {
  /// A warning has at most so many reasons.
  static let maximumReasons = 100

  /// Warns, once for each filter, that nothing passes; `reasons` is empty if the ranges are not the cause.
  func warnOfRejection(_ reasons: [String]) {
    guard !reasons.isEmpty else { return }
    let text =
      "Nothing is left that the app supports. " + reasons.prefix(Self.maximumReasons).joined(separator: "; ") + "."
    // While pads are being linked nothing has gone wrong yet.
    guard let run else { return log(GST_LEVEL_INFO, text) }
    if run.isNew(text) { warn(.stream(GST_STREAM_ERROR_FORMAT, text)) }
  }
}
