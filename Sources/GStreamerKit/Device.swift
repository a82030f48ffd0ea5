/// Devices that an application can list (GstDeviceMonitor), and elements for them.
package struct Device: Sendable {
  /// The name for users.
  package var name: String
  /// Such as `Video/Sink`.
  package var deviceClass: StaticString
  /// The element whose caps the device has.
  package var element: GType
  /// The value for the element's property `uri`.
  package var uri: String

  package init(name: String, deviceClass: StaticString, element: GType, uri: String) {
    self.name = name
    self.deviceClass = deviceClass
    self.element = element
    self.uri = uri
  }

  /// A GstDevice of `type`, with a floating reference.
  ///
  /// It has the URI among its properties, so that it needs no Swift object.
  fileprivate func make(_ type: GType) -> UnsafeMutableRawPointer? {
    let structure = Structure("sdl-device")
    structure.set("uri", uri)
    let sinkClass: UnsafeMutablePointer<GstElementClass> = retainedClass(element)
    let template = gst_element_class_get_pad_template(sinkClass, "sink")
    var values = [GValue](repeating: GValue(), count: 4)
    g_value_init(&values[0], cgst_type_string())
    g_value_set_string(&values[0], name)
    g_value_init(&values[1], cgst_type_string())
    g_value_set_static_string(&values[1], deviceClass.cString)
    g_value_init(&values[2], gst_caps_get_type())
    g_value_take_boxed(&values[2], gst_pad_template_get_caps(template))
    g_value_init(&values[3], cgst_type_structure())
    g_value_take_boxed(&values[3], structure.take())
    let properties: [StaticString] = ["display-name", "device-class", "caps", "properties"]
    var names: [UnsafePointer<CChar>?] = properties.map(\.cString)
    let device = g_object_new_with_properties(type, guint(names.count), &names, &values)
    for index in values.indices { g_value_unset(&values[index]) }
    return UnsafeMutableRawPointer(device)
  }

  /// The result of a provider's `probe`: a list of GstDevice of `type`.
  package static func list(_ devices: [Device], of type: GType) -> UnsafeMutablePointer<GList>? {
    devices.reversed().reduce(nil) { list, device in g_list_prepend(list, device.make(type)) }
  }

  /// The result of a device's `create_element`: an element of this factory for its URI.
  package static func makeElement(
    _ factory: String, for device: UnsafeMutablePointer<GstDevice>?, name: UnsafePointer<CChar>?
  ) -> UnsafeMutablePointer<GstElement>? {
    guard let element = gst_element_factory_make(factory, name) else { return nil }
    guard let properties = Structure(owning: gst_device_get_properties(device)),
      let uri = gst_structure_get_value(properties.pointer, "uri")
    else { return element }
    g_object_set_property(UnsafeMutableRawPointer(element).assumingMemoryBound(to: GObject.self), "uri", uri)
    return element
  }

  package static func deviceClass(of device: UnsafeMutablePointer<GstDevice>?) -> String {
    String(freeing: gst_device_get_device_class(device)) ?? ""
  }
}

extension Device: Equatable {
  package static func == (left: Device, right: Device) -> Bool {
    left.element == right.element && left.uri == right.uri && left.name == right.name
  }
}

/// The list of a provider that was started.
///
/// `@unchecked Sendable`: GstDeviceProvider has a lock of its own.
package struct DeviceList: @unchecked Sendable {
  private let provider: UnsafeMutablePointer<GstDeviceProvider>
  private let type: GType

  /// - Parameters:
  ///   - provider: which outlives the list.
  ///   - type: of the devices, derived from GstDevice.
  package init(of provider: UnsafeMutablePointer<GstDeviceProvider>, type: GType) {
    self.provider = provider
    self.type = type
  }

  /// Adds a device, and tells the monitor.
  package func add(_ device: Device) -> ListedDevice? {
    guard let made = device.make(type) else { return nil }
    let listed = ListedDevice(made.assumingMemoryBound(to: GstDevice.self))
    gst_device_provider_device_add(provider, listed.pointer)
    return listed
  }

  /// Removes it, and tells the monitor.
  package func remove(_ device: ListedDevice) {
    gst_device_provider_device_remove(provider, device.pointer)
  }
}

/// A device of a provider.
///
/// `@unchecked Sendable`: the count of its references is atomic.
package final class ListedDevice: @unchecked Sendable {
  fileprivate let pointer: UnsafeMutablePointer<GstDevice>

  fileprivate init(_ floating: UnsafeMutablePointer<GstDevice>) {
    gst_object_ref_sink(floating)
    pointer = floating
  }

  deinit {
    gst_object_unref(pointer)
  }
}
