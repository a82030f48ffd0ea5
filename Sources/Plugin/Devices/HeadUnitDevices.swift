import Bluetooth
import Discovery
import GStreamerKit
import SDLLink
import SDLWire

/// The device provider: the head units that an application can offer its user. Each is listed twice, for video and for
/// sound.
enum HeadUnitDevices {
  private typealias ProviderType = ObjectType<GstDeviceProvider, GstDeviceProviderClass, Monitor<DeviceWatch?>>
  private typealias DeviceType = ObjectType<GstDevice, GstDeviceClass, Void>

  /// GstDeviceProvider. It lists the present devices on request, and follows changes once it is started.
  static let providerType = ProviderType.register(
    "GstSdlDeviceProvider", derivedFrom: gst_device_provider_get_type()
  ) { providerClass, _ in
    // GObject passes no NULL as a class.
    let providerClass = providerClass.unsafelyUnwrapped.assumingMemoryBound(to: GstDeviceProviderClass.self)
    providerClass.pointee.probe = { _ in
      Device.list(HeadUnitDevices.found(AnnouncedHeadUnits(), PairedCars()), of: HeadUnitDevices.deviceType)
    }
    providerClass.pointee.start = { provider in
      guard let provider else { return 0 }
      let announced = AnnouncedHeadUnits()
      let cars = PairedCars()
      let watch = DeviceWatch { HeadUnitDevices.found(announced, cars) }
      ProviderType.object(of: provider).withLock { $0 = watch }
      watch.start(DeviceList(of: provider, type: HeadUnitDevices.deviceType))
      return 1
    }
    providerClass.pointee.stop = { HeadUnitDevices.stop($0) }
    let objectClass = UnsafeMutableRawPointer(providerClass).assumingMemoryBound(to: GObjectClass.self)
    objectClass.pointee.finalize = { object in
      HeadUnitDevices.stop(object)
      _ = ProviderType.detach(from: object)
      let parentClass: UnsafeMutablePointer<GObjectClass> = retainedClass(gst_device_provider_get_type())
      parentClass.pointee.finalize(object)
    }
    gst_device_provider_class_set_static_metadata(
      providerClass, text("SmartDeviceLink Head Units"), text("Sink/Video/Audio/Network"),
      text("Lists the built-in head unit, head units on this machine and the local network, and paired cars"),
      text("The gst-smartdevicelink authors"))
  } initInstance: { provider, _ in
    ProviderType.attach(Monitor(nil), to: provider)
  }

  private static func stop(_ provider: UnsafeMutableRawPointer?) {
    ProviderType.object(of: provider).withLock { $0.take() }?.stop()
  }

  private static let deviceType = DeviceType.register(
    "GstSdlDevice", derivedFrom: gst_device_get_type()
  ) { deviceClass, _ in
    let deviceClass = deviceClass.unsafelyUnwrapped.assumingMemoryBound(to: GstDeviceClass.self)
    deviceClass.pointee.create_element = { device, name in
      Device.makeElement(
        Device.deviceClass(of: device) == "Audio/Sink" ? "sdlaudiosink" : "sdlvideosink", for: device, name: name)
    }
  } initInstance: { _, _ in
  }

  private static func text(_ text: StaticString) -> UnsafePointer<CChar> { text.cString }

  /// The present devices.
  private static func found(_ announced: AnnouncedHeadUnits, _ cars: PairedCars) -> [Device] {
    devices(
      isListening: LocalListeners.listens(on: HeadUnitURI.defaultPort), announced: announced.list(), cars: cars.list())
  }

  /// - Parameters:
  ///   - isListening: whether a program on this machine listens on SDL's port.
  ///   - announced: head units that announce themselves on the network.
  ///   - cars: paired cars.
  static func devices(isListening: Bool, announced: [AnnouncedHeadUnit], cars: [PairedCar]) -> [Device] {
    var headUnits = [("Built-in head unit", "sdl+builtin:default")]
    if isListening { headUnits.append(("Head unit on this machine", "sdl://127.0.0.1:\(HeadUnitURI.defaultPort)")) }
    headUnits += announced.map { ("\($0.name) (network)", $0.uri) }
    headUnits += cars.map { ("\($0.name) (Bluetooth)", "sdl+bluetooth:\($0.address)") }
    return headUnits.flatMap { name, uri in
      // Any machine in the network may have chosen it, and programs print it.
      let name = name.printable()
      return [
        Device(name: name, deviceClass: "Video/Sink", element: VideoSink.type, uri: uri),
        Device(name: name, deviceClass: "Audio/Sink", element: AudioSink.type, uri: uri),
      ]
    }
  }
}
