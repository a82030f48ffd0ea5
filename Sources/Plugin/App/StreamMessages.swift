import GStreamerKit
import SDLApp

/// The element messages about a stream of any service.
extension AppElement {
  /// `sdl-stream-suspended`: the service stays open, nothing is sent.
  func postStreamSuspended(reason: String) {
    let message = Structure("sdl-stream-suspended")
    message.set("reason", reason)
    message.set("service", service.rawValue)
    postElementMessage(message)
  }

  /// `sdl-stream-waiting`: the stream can't start until there is a transport for it.
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

/// Counters of an element's streams, of any service.
struct StreamCounters {
  var starts: UInt64 = 0
  var startFailures: UInt64 = 0
  private var suspensions: UInt64 = 0
  private var suspendedTime: Duration = .zero
  private var suspendedAt: Duration?

  /// Counts once until ``resumed(at:)``.
  mutating func suspended(at now: Duration) {
    guard suspendedAt == nil else { return }
    suspensions &+= 1
    suspendedAt = now
  }

  mutating func resumed(at now: Duration) {
    guard let began = suspendedAt.take() else { return }
    suspendedTime += now - began
  }

  /// Fields of `sdl-stats`.
  func fill(_ structure: borrowing Structure, now: Duration) {
    structure.set("stream-starts", starts)
    structure.set("stream-start-failures", startFailures)
    structure.set("suspensions", suspensions)
    // The sum of all suspensions, including the present one.
    let time = suspendedTime + (suspendedAt.map { now - $0 } ?? .zero)
    structure.set("suspended-time-ns", UInt64(clamping: time.nanoseconds))
  }
}

extension StreamState: ObjectEnumeration {
  package static let objectType = EnumerationType<StreamState>("GstSdlStreamState")

  package var row: EnumerationRow {
    switch self {
    case .stopped: .init(0, "stopped", "There is no service")
    case .starting: .init(1, "starting", "The head unit was asked for a service")
    case .streaming: .init(2, "streaming", "Video or sound is sent")
    case .suspended: .init(3, "suspended", "The service is kept, but nothing is sent")
    case .stopping: .init(4, "stopping", "The head unit was asked to end the service")
    }
  }
}

extension SuspendPolicy: ObjectEnumeration {
  package static let objectType = EnumerationType<SuspendPolicy>("GstSdlSuspendPolicy")

  package var row: EnumerationRow {
    switch self {
    case .auto: .init(0, "auto", "Ask the application to pause meanwhile (BUFFERING), unless the source is live")
    case .drop: .init(1, "drop", "Ask nobody")
    }
  }
}
