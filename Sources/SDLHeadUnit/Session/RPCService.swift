import SDLMessages
import SDLWire

/// An acknowledged RPC service, which is what makes a session: its versions, and the ids of its messages.
struct RPCService: Sendable {
  /// Version of the frame headers.
  private(set) var headerVersion: UInt8
  /// Before protocol 5 the app picks the version, and its RegisterAppInterface shows it.
  private(set) var isVersionSettled: Bool
  /// As negotiated in the payload; below 5 just the header version.
  private(set) var protocolVersion: ProtocolVersion
  /// SDL Core counts from 0.
  private var nextMessageID: UInt32 = 0

  /// The service that a StartService begins; nil if it is to be refused.
  init?(negotiatedBy frame: Frame, _ configuration: HeadUnitConfiguration) {
    let maximum = configuration.maximumProtocolVersion
    // SDL Core takes a payload that it can't read for none.
    guard maximum.major >= 5, let payload = try? BSONDocument(decoding: frame.payload) else {
      headerVersion = min(configuration.maximumHeaderVersion, 4)
      protocolVersion = ProtocolVersion(Int(headerVersion))
      isVersionSettled = false
      return
    }
    // SDL Core reads no version without a minor part.
    guard let text = payload.string("protocolVersion"), text.contains("."),
      let wanted = ProtocolVersion(text), wanted.major >= 5
    else { return nil }
    headerVersion = 5
    protocolVersion = min(wanted, maximum)
    isVersionSettled = true
  }

  /// The version of a frame that the app has chosen by it.
  mutating func settleVersion(_ version: UInt8) {
    guard !isVersionSettled else { return }
    headerVersion = min(version, headerVersion)
    protocolVersion = ProtocolVersion(Int(headerVersion))
    isVersionSettled = true
  }

  /// Without the transports.
  func acknowledgement(_ configuration: HeadUnitConfiguration, hashID: Int32) -> RPCServiceAcknowledgement {
    var acknowledgement = RPCServiceAcknowledgement()
    acknowledgement.protocolVersion = protocolVersion
    acknowledgement.hashID = hashID
    acknowledgement.mtu = Int64(configuration.frameLimits.payload)
    guard protocolVersion >= ProtocolVersion(5, 4) else { return acknowledgement }
    let vehicle = configuration.vehicle
    acknowledgement.make = vehicle.make
    acknowledgement.model = vehicle.model
    acknowledgement.modelYear = vehicle.modelYear
    acknowledgement.trim = vehicle.trim
    acknowledgement.systemSoftwareVersion = vehicle.systemSoftwareVersion
    acknowledgement.systemHardwareVersion = vehicle.systemHardwareVersion
    return acknowledgement
  }

  mutating func takeMessageID() -> UInt32 {
    defer { nextMessageID &+= 1 }
    return nextMessageID
  }

  mutating func resetMessageID() {
    nextMessageID = 0
  }
}
