import GStreamerKit
import Glibc
import SDLApp
import SDLAppLink
import SDLLink

/// Converts errors of the lower layers to GStreamer's domains and codes.
extension ElementError {
  /// `wasStreaming`: see below.
  init(_ failure: ConnectionFailure, wasStreaming: Bool) {
    switch failure {
    case .link(let error): self.init(error, wasStreaming: wasStreaming)
    case .session(let failure): self.init(failure, wasStreaming: wasStreaming)
    }
  }

  /// `wasStreaming`: a connection that breaks before it has streamed counts as one that could not be opened.
  init(_ failure: AppSessionFailure, wasStreaming: Bool) {
    let text = failure.description
    let code: GstResourceError =
      switch failure {
      case .notSDL, .sessionRefused, .unsupportedProtocol, .unanswered: GST_RESOURCE_ERROR_OPEN_READ_WRITE
      case .registrationRefused(let result, _)
      where [.tooManyApplications, .applicationRegisteredAlready].contains(ResultCode(rawValue: result)):
        GST_RESOURCE_ERROR_BUSY
      case .registrationRefused, .unregistered, .videoNotSupported, .notEncrypted, .rpcsNotEncrypted,
        .headUnitNotTrusted:
        GST_RESOURCE_ERROR_NOT_AUTHORIZED
      case .endedByHeadUnit, .heartbeatLost, .connectionLost, .encryptedTransportLost, .decryptionFailed,
        .handshakeLost:
        wasStreaming ? GST_RESOURCE_ERROR_WRITE : GST_RESOURCE_ERROR_OPEN_READ_WRITE
      }
    self = .resource(code, text.prefix(1).uppercased() + text.dropFirst() + ".")
  }

  /// `wasStreaming` as above.
  init(_ error: LinkError, wasStreaming: Bool) {
    if case .transport(let failure) = error {
      self.init(failure)
      return
    }
    let text = error.description
    let code: GstResourceError =
      switch error {
      case .cannotResolve, .resolvingTimedOut: GST_RESOURCE_ERROR_NOT_FOUND
      case .refused, .unreachable, .connectingTimedOut, .cannotConnect, .cannotListen, .noWebSocket:
        GST_RESOURCE_ERROR_OPEN_READ_WRITE
      case .closedByPeer, .closedUnanswered, .connectionLost, .peerNotReading, .stalled:
        wasStreaming ? GST_RESOURCE_ERROR_WRITE : GST_RESOURCE_ERROR_OPEN_READ_WRITE
      case .system, .transport: GST_RESOURCE_ERROR_FAILED
      }
    self = .resource(code, text.prefix(1).uppercased() + text.dropFirst() + "." + Self.advice(error))
  }

  /// Why a transport other than TCP has no connections.
  init(_ failure: TransportFailure) {
    let code: GstResourceError =
      switch failure.kind {
      case .serviceMissing, .deviceMissing, .unknownPeer: GST_RESOURCE_ERROR_NOT_FOUND
      case .notAuthorized: GST_RESOURCE_ERROR_NOT_AUTHORIZED
      case .busy: GST_RESOURCE_ERROR_BUSY
      case .unreachable, .brokenOff, .failed: GST_RESOURCE_ERROR_OPEN_READ_WRITE
      }
    self = .resource(code, "\(failure.reason.prefix(1).uppercased())\(failure.reason.dropFirst()). \(failure.advice)")
  }

  private static func advice(_ error: LinkError) -> String {
    switch error {
    case .cannotResolve, .resolvingTimedOut: " Check the host in uri, or write its address."
    case .noWebSocket(_, let failure): " \(failure.advice)"
    case .refused:
      " Is the head unit running, and is the port right (SDL Core listens on 12345, and for WebSocket on 2020)?"
    // The description says what to do.
    case .cannotConnect(_, EMFILE), .cannotConnect(_, ENFILE): ""
    case .unreachable, .connectingTimedOut, .cannotConnect:
      " Check host, port and network; connect-timeout sets the wait."
    case .closedUnanswered: " If it takes WebSocket there, write sdl+ws://HOST:PORT, or sdl+wss with TLS."
    case .closedByPeer, .connectionLost, .peerNotReading, .stalled: " The head unit's log may say why."
    default: ""
    }
  }
}
extension ElementError {
  init(_ problem: VideoProblem) {
    self =
      problem.concernsPermission
      ? .resource(GST_RESOURCE_ERROR_NOT_AUTHORIZED, problem.description, details: problem.details)
      : .stream(GST_STREAM_ERROR_FORMAT, problem.description, details: problem.details)
  }
}
