import SDLMessages

/// An RPC request of the application, for functions that the session does not use itself: vehicle data, turns, alerts
/// and the like. It gets exactly one answer (``AppSession/Event/applicationRPC(_:)``).
package struct ApplicationRequest: Equatable, Sendable {
  /// The session's own correlation ids are lower.
  package static let ids: ClosedRange<Int32> = 65_536...Int32.max

  /// Its correlation id, in ``ids``; unique among unanswered requests.
  package var id: Int32
  package var function: FunctionID
  package var parameters: JSONObject
  /// A file is sent in parts.
  package var bulk: [UInt8]
  /// The size of its parameters and bulk data, in bytes.
  package let byteCount: Int

  package init(id: Int32, _ function: FunctionID, _ parameters: JSONObject, bulk: [UInt8] = []) {
    self.id = id
    self.function = function
    self.parameters = parameters
    self.bulk = bulk
    byteCount = parameters.serialized.count + bulk.count
  }

  /// The most bytes on the way at once: they wait in one buffer, with the session's own messages.
  package static let maximumBytesOnTheWay = 2 << 20

  /// How many bytes of it are on the way at once.
  package var bytesOnTheWay: Int {
    function == .putFile ? byteCount - max(bulk.count - FileUpload.partSize, 0) : byteCount
  }

  package enum Refusal: Error, Equatable, CustomStringConvertible {
    case notRegistered
    /// The session sends it itself, or it is no request.
    case reserved(FunctionID)
    /// Of so many bytes, which can't be sent in parts.
    case tooLarge(Int)
    /// Too many are not answered, or they are too large together.
    case full

    /// In a form that can follow a colon.
    package var description: String {
      switch self {
      case .notRegistered: "the app is not registered with a head unit"
      case .reserved(let function): "\(function) is for the element itself to send"
      case .tooLarge(let count): "it has \(count) bytes, and may have \(ApplicationRequest.maximumBytesOnTheWay)"
      case .full: "too many requests wait for their answers"
      }
    }
  }

  /// Whether only the session may send it: registration, services, displays, and functions whose state it keeps.
  ///
  /// - Parameter wantsButtons: whether the session subscribes to the car's buttons.
  package static func isReserved(_ function: FunctionID, _ parameters: JSONObject, wantsButtons: Bool) -> Bool {
    switch function {
    case .registerAppInterface, .unregisterAppInterface, .sendHapticData: true
    case .subscribeButton, .unsubscribeButton: wantsButtons
    case .getSystemCapability:
      parameters["systemCapabilityType"]?.string == SystemCapabilityType.videoStreaming.rawValue
    default: !function.isKnownRequest
    }
  }

  /// The answer to a request that the head unit has not answered, or that can't be sent.
  package func failure(_ code: ResultCode, _ info: String) -> RPCMessage {
    RPCMessage(
      type: .response, function: function, correlationID: id,
      parameters: RPCResult(success: false, resultCode: code, info: info).json)
  }

  /// The answer to a request that was open when the connection ended.
  package var aborted: RPCMessage { failure(.aborted, "The connection has ended before the answer") }

  /// How long its answer may take; `usual` is for requests that the driver neither hears nor sees.
  func timeout(usual: Duration) -> Duration {
    switch function {
    case .alert, .subtleAlert, .alertManeuver, .performInteraction, .scrollableMessage, .slider, .speak,
      .performAudioPassThru:
      // A recording alone may last 1000 s, after a prompt that explains it.
      .seconds(1200)
    default: usual
    }
  }
}
