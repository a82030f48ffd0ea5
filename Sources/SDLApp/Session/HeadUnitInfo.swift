import SDLMessages
import SDLWire

public struct HeadUnitInfo: Equatable, Sendable {
  public var make: String?
  public var model: String?
  public var modelYear: String?
  public var trim: String?
  public var softwareVersion: String?
  public var hardwareVersion: String?
  public var protocolVersion: ProtocolVersion
  public var rpcVersion: RPCVersion?
  /// The audio format that the head unit has announced; nil if it announces none.
  public var announcedPCMFormat: PCMFormat?
  /// Nil until it is known, and for head units without such a capability.
  public var videoCapability: VideoStreamingCapability?

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
