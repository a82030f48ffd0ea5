import GStreamerKit
import SDLApp

/// The element messages about the stream.
extension VideoSink {
  /// `sdl-stream-started`: frames are sent from now on.
  func postStreamStarted(_ grant: VideoGrant, reason: String) {
    let message = Structure("sdl-stream-started")
    message.set("reason", reason)
    message.set("width", Int32(clamping: grant.size.width))
    message.set("height", Int32(clamping: grant.size.height))
    message.set("protocol", grant.streamingProtocol.rawValue)
    message.set("codec", VideoCodec.h264.rawValue)
    message.set("max-frame-payload", UInt64(clamping: grant.maximumPayload))
    message.set("service", StreamService.video.rawValue)
    message.set("transport", grant.role == .primary ? "primary" : "secondary")
    postElementMessage(message)
  }

  /// `sdl-stream-stopped`: the service has ended.
  func postStreamStopped(_ reason: StreamStopReason) {
    let message = Structure("sdl-stream-stopped")
    message.set("reason", reason.rawValue)
    message.set("frames-sent", counters.framesSent)
    message.set("service", StreamService.video.rawValue)
    postElementMessage(message)
  }

  /// `sdl-bitrate`: the targets have changed noticeably.
  func postBitrate(_ report: LinkReport) {
    let message = Structure("sdl-bitrate")
    message.set("bitrate", UInt64(clamping: report.bitrate))
    message.set("frame-rate", report.frameRate)
    message.set("reason", report.reason?.name ?? "")
    message.set("capacity", UInt64(clamping: report.capacity))
    message.set("delay", UInt64(clamping: report.delay.nanoseconds))
    postElementMessage(message)
  }

  /// `sdl-resized`: the first frame of a new size is on its way.
  func postResized(_ resize: VideoResize.Completed) {
    let message = Structure("sdl-resized")
    Self.fill(message, from: resize.former, to: resize.present)
    message.set("duration", UInt64(clamping: resize.duration.nanoseconds))
    message.set("dropped-frames", resize.lostFrames)
    postElementMessage(message)
  }

  /// `sdl-resize-ignored`: the head unit would like another size than the stream keeps.
  func postResizeIgnored(_ kept: VideoSize, _ offered: VideoSize, _ reason: ResizeIgnoredReason) {
    let message = Structure("sdl-resize-ignored")
    message.set("reason", reason.rawValue)
    Self.fill(message, from: kept, to: offered)
    postElementMessage(message)
  }

  private static func fill(_ message: borrowing Structure, from former: VideoSize, to present: VideoSize) {
    message.set("old-width", Int32(clamping: former.width))
    message.set("old-height", Int32(clamping: former.height))
    message.set("width", Int32(clamping: present.width))
    message.set("height", Int32(clamping: present.height))
  }

  /// `sdl-gesture`: a gesture on the screen.
  func postGesture(_ gesture: Gesture) {
    let message = Structure("sdl-gesture")
    func set(_ type: String, _ position: TouchPosition, in message: borrowing Structure) {
      message.set("type", type)
      message.set("x", position.x)
      message.set("y", position.y)
    }
    switch gesture {
    case .tap(let position): set("tap", position, in: message)
    case .doubleTap(let position): set("double-tap", position, in: message)
    case .panStart(let position): set("pan-start", position, in: message)
    case .pan(let from, let to):
      set("pan", to, in: message)
      message.set("from-x", from.x)
      message.set("from-y", from.y)
    case .panEnd(let position): set("pan-end", position, in: message)
    case .panCancel(let position): set("pan-cancel", position, in: message)
    case .pinchStart(let center): set("pinch-start", center, in: message)
    case .pinch(let center, let scale):
      set("pinch", center, in: message)
      message.set("scale", scale)
    case .pinchEnd(let center): set("pinch-end", center, in: message)
    case .pinchCancel(let center): set("pinch-cancel", center, in: message)
    }
    postElementMessage(message)
  }
}

extension VideoSink {
  /// Pushes a navigation event on the pad directly, because the base class's functions are for the application's
  /// events. One that no element handles is posted for the application, unless `isOver` says that the stream has ended
  /// meanwhile. Without locks.
  func pushNavigation(_ event: UnsafeMutablePointer<GstEvent>?, at time: Duration, unless isOver: () -> Bool) {
    guard let event = Event(owning: event) else { return }
    event.pointer.pointee.timestamp = GstClockTime(clamping: time.nanoseconds)
    guard !event.shared().push(on: pad), !isOver() else { return }
    post(gst_navigation_message_new_event(gstElement.cast(), event.pointer))
  }
}
