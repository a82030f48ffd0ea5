import GStreamerKit

/// The wait for a driver who has to open the app, as PROGRESS messages tell it.
extension GStreamerElement {
  func postActivation(_ type: GstProgressType, _ text: String) {
    log(GST_LEVEL_INFO, text)
    post(gst_message_new_progress(gstElement.cast(), type, "activate", text))
  }
}
