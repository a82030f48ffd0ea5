import Bluetooth
import GStreamerKit
import SDLLink
import Synchronization

/// Whether the descriptor of a `uri` has been used: the connection closes it at its end, and the system then gives its number to
/// something else. Setting the property anew, also to the same number, names another descriptor.
final class DescriptorUse: Equatable, Sendable {
  private let isOver = Atomic(false)

  /// Whether this is the first time.
  func begin() -> Bool { !isOver.exchange(true, ordering: .relaxed) }

  var hasBegun: Bool { isOver.load(ordering: .relaxed) }

  /// It says nothing about what the user has asked for.
  static func == (left: DescriptorUse, right: DescriptorUse) -> Bool { true }
}

/// How to get a connection.
extension AppSettings {
  func endpoint(
    _ headUnit: HeadUnitURI, log: @escaping @Sendable (String) -> Void
  ) throws(ElementError) -> (endpoint: AppConnection.Endpoint, canReconnect: Bool) {
    switch headUnit {
    case .tcp(let host, let port): return (.tcp(host: host, port: port), true)
    case .builtIn(let preset): return (.builtIn(preset.configuration), true)
    case .bluetooth(let car):
      var configuration = BluetoothTransport.Configuration.app(only: car)
      configuration.log = log
      return (.transport(BluetoothTransport(configuration)), true)
    case .descriptor(let number): return (.descriptor(try descriptor(number)), false)
    }
  }

  private func descriptor(_ number: Int32) throws(ElementError) -> ConnectedDescriptor {
    guard !descriptorUse.hasBegun else {
      throw .resource(
        GST_RESOURCE_ERROR_SETTINGS,
        "The property uri can't be used again: descriptor \(number) was that of an earlier start, which has closed it, and its number may be something else's now. Set uri for each start, also if a new connection has the same number."
      )
    }
    do {
      let descriptor = try ConnectedDescriptor(adopting: number)
      _ = descriptorUse.begin()
      return descriptor
    } catch {
      throw .resource(
        GST_RESOURCE_ERROR_SETTINGS,
        "The property uri can't be used: descriptor \(number) \(error). The element closes it at the end, so that each start needs another."
      )
    }
  }
}
