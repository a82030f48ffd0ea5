import GStreamerKit
import SDLLink

/// Keeps the device list of a started provider up to date, until it is stopped.
///
/// It polls, since the kernel has no events for programs that listen. What Avahi and BlueZ signal has come by then, so that
/// a look calls them only after a change.
final class DeviceWatch: Sendable {
  /// A user who switches a head unit on expects it in the list within seconds.
  static let pause = Duration.seconds(2)

  private struct Entry {
    var device: Device
    var listed: ListedDevice
  }

  private let find: @Sendable () -> [Device]
  private let pause: Duration
  private let isOver = Monitor(false)
  private let thread = WorkerThread(name: "sdl-devices")

  init(pause: Duration = pause, find: @escaping @Sendable () -> [Device]) {
    self.pause = pause
    self.find = find
  }

  /// Lists the present devices, and continues on a thread of its own.
  func start(_ list: DeviceList) {
    var entries: [Entry] = []
    Self.update(&entries, find(), list)
    let first = Entries(entries: entries)
    // Without a thread the list stays as it is.
    try? thread.start { [isOver, find, pause] in
      var entries = first.entries
      while !isOver.wait(atLatest: MonotonicClock.now + pause, until: { $0 }) {
        Self.update(&entries, find(), list)
      }
    }
  }

  /// The list is not changed any more after this.
  func stop() {
    isOver.change { $0 = true }
    thread.join()
  }

  /// The data that the starting thread passes to the other one.
  ///
  /// `@unchecked Sendable`: the starting thread does not use it after that.
  private struct Entries: @unchecked Sendable {
    let entries: [Entry]
  }

  private static func update(_ entries: inout [Entry], _ found: [Device], _ list: DeviceList) {
    for entry in entries where !found.contains(entry.device) { list.remove(entry.listed) }
    entries.removeAll { !found.contains($0.device) }
    for device in found where !entries.contains(where: { $0.device == device }) {
      guard let listed = list.add(device) else { continue }
      entries.append(Entry(device: device, listed: listed))
    }
  }
}
