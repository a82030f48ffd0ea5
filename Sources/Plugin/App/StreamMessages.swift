import GStreamerKit
import SDLApp

/// The element messages about a stream, whatever it carries.
extension AppHost {
  /// `sdl-stream-suspended`: the service stays open, nothing is sent.
  func postStreamSuspended(reason: String) {
    let message = Structure("sdl-stream-suspended")
    message.set("reason", reason)
    message.set("service", service.rawValue)
    postElementMessage(message)
  }

  /// `sdl-stream-waiting`: the stream can't start before there is a transport that may carry it.
  func postStreamWaiting(_ wait: TransportWait) {
    let text = "There is no \(service.rawValue) yet. \(wait)"
    log(GST_LEVEL_INFO, text)
    // As details as well, because gst-launch shows nothing else.
    ElementError.resource(GST_RESOURCE_ERROR_NOT_FOUND, text, details: text)
      .post(as: GST_MESSAGE_INFO, from: gstElement)
    let message = Structure("sdl-stream-waiting")
    message.set("reason", wait.rawValue)
    message.set("service", service.rawValue)
    postElementMessage(message)
  }
}
