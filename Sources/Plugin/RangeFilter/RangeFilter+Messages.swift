import GStreamerKit
import SDLApp

/// Warnings: of numbers that were refused, and of nothing being left.
extension RangeFilter {
  /// Posts a warning. gst-launch sets properties before there is a pipeline to tell of it, so then it waits.
  func warn(
    _ error: ElementError, file: StaticString = #fileID, function: StaticString = #function, line: Int32 = #line
  ) {
    log(GST_LEVEL_WARNING, error.text)
    guard hasBus else { return state.withLock { $0.keep(error) } }
    error.post(as: GST_MESSAGE_WARNING, from: gstElement, file: file, function: function, line: line)
  }

  private var hasBus: Bool {
    guard let bus = gst_element_get_bus(gstElement) else { return false }
    gst_object_unref(bus)
    return true
  }

  func postWaitingWarnings() {
    for warning in state.withLock({ $0.takeWaiting() }) {
      warning.post(as: GST_MESSAGE_WARNING, from: gstElement)
    }
  }

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
