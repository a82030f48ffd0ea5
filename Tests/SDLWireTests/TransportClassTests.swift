import SDLWire
import Testing

@Suite struct TransportClassTests {
  /// The names of the protocol specification, "Secondary transports".
  @Test(arguments: [
    ("TCP_WIFI", TransportClass.tcpWiFi), ("SPP_BLUETOOTH", .bluetooth), ("IAP_BLUETOOTH", .bluetooth),
    ("AOA_USB", .usb), ("IAP_USB", .usb), ("IAP_USB_HOST_MODE", .usb), ("IAP_USB_DEVICE_MODE", .usb),
    ("IAP_CARPLAY", .usb),
  ])
  func namesOfTheSpecification(name: String, expected: TransportClass) {
    #expect(TransportClass(protocolName: name) == expected)
  }

  @Test(arguments: ["", "WEBSOCKET_WIFI", "tcp_wifi", "TCP"]) func otherNames(name: String) {
    #expect(TransportClass(protocolName: name) == nil)
  }

  @Test func eachNameBelongsToOneClass() {
    let names = TransportClass.allCases.flatMap(\.protocolNames)
    #expect(Set(names).count == names.count)
    for transport in TransportClass.allCases {
      for name in transport.protocolNames { #expect(TransportClass(protocolName: name) == transport) }
    }
  }

  /// A frame of video over Bluetooth must not hold RPCs up for long; other transports leave the size to the head unit.
  @Test func onlyBluetoothIsNarrow() {
    #expect(TransportClass.bluetooth.maximumFramePayload == 8192)
    #expect(TransportClass.bluetooth.maximumVideoBitrate == 800_000)
    for transport in [TransportClass.tcpWiFi, .usb] {
      #expect(transport.maximumFramePayload == nil)
      #expect(transport.maximumVideoBitrate == nil)
    }
  }
}
