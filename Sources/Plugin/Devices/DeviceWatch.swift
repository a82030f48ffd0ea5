import GStreamerKit
import SDLLink

/// Keeps the list of a device provider that was started, as a monitor has it, until it is stopped.
///
/// It looks every now and then: the kernel tells nobody of programs that listen, and a second look costs less than
/// another way to hear of cars.
final class DeviceWatch: Sendable {
  /// A person who switches a head unit on looks for it in a list for some seconds.
  static let pause = Duration.seconds(2)
  /// BlueZ may be too busy for an answer; a device that is missing so often is gone.
  private static let missesUntilGone = 2

  private struct Entry {
    var device: Device
    var listed: ListedDevice
    var misses = 0
  }

  private let find: @Sendable () -> [Device]
  private let pause: Duration
  private let isOver = Monitor(false)
  private let thread = WorkerThread(name: "sdl-devices")

  init(pause: Duration = pause, find: @escaping @Sendable () -> [Device]) {
    self.pause = pause
    self.find = find
  }

  /// Lists what is there, and goes on on a thread of its own.
  func start(_ list: DeviceList) {
    var entries: [Entry] = []
    Self.update(&entries, find(), list)
    let first = Entries(entries: entries)
    // Without a thread the list stays as it is.
    try? thread.start { [isOver, find, pause] in
      var entries = first.entries
      while isOver.wait(until: MonotonicClock.now + pause, for: { $0 ? () : nil }) == nil {
        Self.update(&entries, find(), list)
      }
    }
  }

  /// The list is not changed any more after this.
  func stop() {
    isOver.withLock { $0 = true }
    isOver.broadcast()
    thread.join()
  }

  /// What the starting thread hands to the other one.
  ///
  /// `@unchecked Sendable`: the starting thread does not use it after that.
  private struct Entries: @unchecked Sendable {
    let entries: [Entry]
  }

  private static func update(_ entries: inout [Entry], _ found: [Device], _ list: DeviceList) {
    for index in entries.indices {
      entries[index].misses = found.contains(entries[index].device) ? 0 : entries[index].misses + 1
    }
    for entry in entries where entry.misses >= missesUntilGone { list.remove(entry.listed) }
    entries.removeAll { $0.misses >= missesUntilGone }
    for device in found where !entries.contains(where: { $0.device == device }) {
      guard let listed = list.add(device) else { continue }
      entries.append(Entry(device: device, listed: listed))
    }
  }
}
