import GStreamerKit
import SDLApp

/// The element messages about the stream.
extension AudioSink {
  /// `sdl-stream-started`: sound is sent from now on.
  func postStreamStarted(_ grant: AudioGrant, reason: String) {
    let message = Structure("sdl-stream-started")
    message.set("reason", reason)
    message.set("format", grant.format.formatName)
    message.set("rate", Int32(clamping: grant.format.samplingRate.hertz))
    message.set("format-assumed", grant.isFormatAssumed)
    message.set("max-frame-payload", UInt64(clamping: grant.maximumPayload))
    message.set("service", StreamService.audio.rawValue)
    message.set("transport", grant.role == .primary ? "primary" : "secondary")
    postElementMessage(message)
  }

  /// `sdl-stream-stopped`: the service has ended.
  func postStreamStopped(_ reason: AudioStopReason) {
    let message = Structure("sdl-stream-stopped")
    message.set("reason", reason.name)
    message.set("samples-sent", counters.withLock { $0.samplesSent })
    message.set("service", StreamService.audio.rawValue)
    postElementMessage(message)
  }

  /// The head unit says nothing of the sound that it plays.
  func postAssumedFormat(_ format: PCMFormat) {
    let text = "The head unit lists no format for sound: \(format), one channel, is assumed, which most of them play."
    log(GST_LEVEL_INFO, text)
    ElementError.stream(GST_STREAM_ERROR_FORMAT, text, details: text).post(as: GST_MESSAGE_INFO, from: gstElement)
  }
}
