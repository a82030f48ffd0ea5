import GStreamerKit
import SDLApp

extension StreamState: ObjectEnumeration {
  public static let objectType = EnumerationType<StreamState>("GstSdlStreamState")

  public var row: EnumerationRow {
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
  public static let objectType = EnumerationType<SuspendPolicy>("GstSdlSuspendPolicy")

  public var row: EnumerationRow {
    switch self {
    case .auto: .init(0, "auto", "Ask the application to pause meanwhile (BUFFERING), unless the source is live")
    case .drop: .init(1, "drop", "Ask nobody")
    }
  }
}
