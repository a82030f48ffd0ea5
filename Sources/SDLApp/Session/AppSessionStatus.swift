import SDLMessages
import SDLWire

extension AppSession {
  /// The state of a session at a moment; events report the changes.
  package struct Status: Equatable, Sendable {
    /// Nil until the app is registered.
    package internal(set) var headUnit: HeadUnitInfo?
    /// The status of the main window; nil until the head unit has sent one.
    package internal(set) var hmi: HMIStatus?
    /// The permissions of the head unit's policy; nil until it has sent them.
    package internal(set) var permissions: AppPermissions?
    /// Nil until it is known.
    package internal(set) var videoCapability: VideoCapability?
    package internal(set) var video = ServiceStatus<VideoGrant>()
    package internal(set) var audio = ServiceStatus<AudioGrant>()
    /// Counters alone do not change it.
    package internal(set) var secondary = SecondaryTransportStatus()
    /// The result of the TLS handshake.
    package internal(set) var encryption: SecureChannelSummary?
    package internal(set) var isRPCEncrypted = false
    /// From the last answered heartbeat to its answer.
    package internal(set) var roundTrip: Duration?

    package init() {}
  }

  /// The state of the service of video or sound.
  package struct ServiceStatus<Grant: StreamGrant>: Equatable, Sendable {
    /// The right to send, from the acknowledgement of the start until EndService is sent or comes.
    package internal(set) var grant: Grant?
    /// Suspended while the app is not in the foreground, or its sound is not audible: service and grant are kept, but
    /// only a notice of video may be sent.
    package internal(set) var state = StreamState.stopped
    /// The end of the last service.
    package internal(set) var end: ServiceEnd?
    /// Why a requested service that the driver would see or hear does not start.
    package internal(set) var wait: TransportWait?
  }

  package struct ServiceEnd: Equatable, Sendable {
    /// The epoch of its grant.
    package var epoch: UInt32
    package var reason: StreamStopReason
  }

  package struct VideoCapability: Equatable, Sendable {
    /// Nil for a head unit that announces none.
    package var capability: VideoStreamingCapability?
    /// For head units that announce no size: that of the screen or, on an old screen that enlarges pictures, that of
    /// the pictures.
    package var fallbackSize: VideoSize?

    package init(capability: VideoStreamingCapability?, fallbackSize: VideoSize?) {
      self.capability = capability
      self.fallbackSize = fallbackSize
    }
  }
}

package struct HeadUnitInfo: Equatable, Sendable {
  package var make: String?
  package var model: String?
  package var modelYear: String?
  package var trim: String?
  package var softwareVersion: String?
  package var hardwareVersion: String?
  package var protocolVersion: ProtocolVersion
  package var rpcVersion: RPCVersion?
  /// The audio format that the head unit has announced; nil if it announces none.
  package var announcedPCMFormat: PCMFormat?
  /// Nil until it is known, and for head units without such a capability.
  package var videoCapability: VideoStreamingCapability?

  init(_ acknowledgement: RPCServiceAcknowledgement, protocolVersion: ProtocolVersion) {
    make = acknowledgement.make
    model = acknowledgement.model
    modelYear = acknowledgement.modelYear
    trim = acknowledgement.trim
    softwareVersion = acknowledgement.systemSoftwareVersion
    hardwareVersion = acknowledgement.systemHardwareVersion
    self.protocolVersion = protocolVersion
  }

  /// Adds fields that the start of the session did not contain (vehicle data came with protocol 5.4).
  mutating func merge(_ response: RegisterAppInterfaceResponse, rpcVersion: RPCVersion) {
    make = make ?? response.make
    model = model ?? response.model
    modelYear = modelYear ?? response.modelYear
    trim = trim ?? response.trim
    softwareVersion = softwareVersion ?? response.systemSoftwareVersion
    announcedPCMFormat = response.pcmFormat
    self.rpcVersion = rpcVersion
  }
}

/// In which HMI levels the head unit's policy allows the RPCs that the app's streams need (OnPermissionsChange).
///
/// Each notification replaces the one before, as SDL Core lists all permissions in each. The streams themselves depend
/// on OnHMIStatus, not on a policy.
package struct AppPermissions: Equatable, Sendable {
  private static let functions: [FunctionID] = [
    .onTouchEvent, .sendHapticData, .subscribeButton, .unsubscribeButton, .onButtonEvent, .onButtonPress,
    .getSystemCapability, .changeRegistration, .putFile, .setAppIcon, .closeApplication,
  ]

  private let levels: [FunctionID: [HMILevel]]

  init(_ change: OnPermissionsChange) {
    let allowed = Self.functions.compactMap { function -> (FunctionID, [HMILevel])? in
      guard let levels = change.allowedLevels[function.description], !levels.isEmpty else { return nil }
      return (function, HMILevel.allCases.filter(levels.contains))
    }
    levels = Dictionary(uniqueKeysWithValues: allowed)
  }

  /// Whether the app may send or get `function` at `level`; nil stands for a level that is not known yet.
  package func allow(_ function: FunctionID, at level: HMILevel?) -> Bool {
    levels[function]?.contains(level ?? .none) ?? false
  }

  /// The levels in which the driver's touches come.
  package var touchLevels: [HMILevel] { levels[.onTouchEvent] ?? [] }

  /// The levels in which the head unit accepts touchable rectangles.
  package var hapticLevels: [HMILevel] { levels[.sendHapticData] ?? [] }

  /// The levels in which presses of buttons come, in one form or the other; none without permission for
  /// SubscribeButton.
  package var buttonLevels: [HMILevel] {
    guard levels[.subscribeButton] != nil else { return [] }
    return HMILevel.allCases.filter { allow(.onButtonEvent, at: $0) || allow(.onButtonPress, at: $0) }
  }
}
