/// The kind of transport that a connection runs over. Code above the connected descriptor knows no more about it.
///
/// StartServiceACK has several names for each class (protocol specification, "Secondary transports"), which an app need
/// not distinguish, since only the head unit decides which of its interfaces it offers.
package enum TransportClass: String, Hashable, Sendable, CaseIterable {
  /// TCP, over Wi-Fi in a car; also a connection that the application brings, and the built-in head unit's.
  case tcpWiFi = "tcp-wifi"
  /// RFCOMM or iAP2 over Bluetooth.
  case bluetooth
  /// An accessory protocol (AOA, iAP2) over USB.
  case usb

  /// The class of a name in `secondaryTransports`; nil for names that are not of this specification, which head units
  /// send as well (such as WEBSOCKET_WIFI).
  package init?(protocolName: String) {
    guard let found = Self.allCases.first(where: { $0.protocolNames.contains(protocolName) }) else { return nil }
    self = found
  }

  /// The names in `secondaryTransports` that stand for this class; the first is the one to offer to an app on Linux or
  /// Android.
  package var protocolNames: [String] {
    switch self {
    case .tcpWiFi: ["TCP_WIFI"]
    case .bluetooth: ["SPP_BLUETOOTH", "IAP_BLUETOOTH"]
    case .usb: ["AOA_USB", "IAP_USB", "IAP_USB_HOST_MODE", "IAP_USB_DEVICE_MODE", "IAP_CARPLAY"]
    }
  }

  /// The largest payload of one frame, in bytes, even if the head unit accepts larger ones; nil for no limit of its
  /// own.
  ///
  /// An RPC waits for the end of the frame of video in front of it. Over Bluetooth, at 1 Mbit/s, 131 072 bytes take a
  /// second and 8192 take 65 ms.
  package var maximumFramePayload: Int? {
    switch self {
    case .bluetooth: 8192
    case .tcpWiFi, .usb: nil
    }
  }

  /// The highest bitrate of video, in bit/s; nil for no limit of its own.
  ///
  /// Bluetooth EDR carries 1 to 2 Mbit/s of payload in practice, and RPCs, sound and other devices share it.
  package var maximumVideoBitrate: Int? {
    switch self {
    case .bluetooth: 800_000
    case .tcpWiFi, .usb: nil
    }
  }
}

/// Which of the two transports of a session carries a service (protocol specification, "Secondary transports"). The raw
/// value is that of the lists in StartServiceACK.
package enum TransportRole: Int32, Hashable, Sendable, CaseIterable {
  /// The one on which the session began; it always carries RPCs.
  case primary = 1
  /// The one that was registered for the session later.
  case secondary = 2

  /// The preference order of a list in StartServiceACK, without repetitions and unknown values.
  ///
  /// - Parameter list: `audioServiceTransports` or `videoServiceTransports`. Nil, for a head unit that does not send
  ///   it, stands for the primary transport; an empty list allows the service on none.
  package static func preferences(_ list: [Int32]?) -> [TransportRole] {
    guard let list else { return [.primary] }
    return list.compactMap(TransportRole.init).reduce(into: []) { roles, role in
      if !roles.contains(role) { roles.append(role) }
    }
  }
}
