import Foundation
import SDLLink
@_exported import TestSupport
import Testing

@testable import Bluetooth

let car = "AA:BB:CC:DD:EE:FF"
let otherCar = "00:11:22:33:44:55"

func address(_ text: String) throws -> BluetoothAddress { try #require(BluetoothAddress(text)) }

/// Keeps what a transport reports.
final class TransportRecorder: Sendable {
  private struct State: Sendable {
    var statuses: [TransportStatus] = []
    var connections: [PeerConnection] = []
    var failures: [TransportFailure] = []
    var lines: [String] = []
  }

  private let state = Monitor(State())

  func receive(_ event: TransportEvent) {
    state.withLock { state in
      switch event {
      case .status(let status): state.statuses.append(status)
      case .connected(let connection): state.connections.append(connection)
      case .faultFound: break
      case .failed(let failure): state.failures.append(failure)
      }
    }
    state.broadcast()
  }

  func log(_ line: String) {
    state.withLock { $0.lines.append(line) }
    state.broadcast()
  }

  var statuses: [TransportStatus] { state.withLock { $0.statuses } }
  var failures: [TransportFailure] { state.withLock { $0.failures } }
  var lines: [String] { state.withLock { $0.lines } }

  private func wait<Result>(_ match: @escaping (State) -> Result?) throws -> Result {
    let result = state.wait(until: MonotonicClock.now + testTimeout) { match($0) }
    return try #require(result, "\(state.withLock { $0 })")
  }

  func waitForWaiting(_ count: Int = 1) throws {
    _ = try wait { state in
      let waits = state.statuses.count { if case .waiting = $0 { true } else { false } }
      return waits >= count ? true : nil
    }
  }

  func waitForHindrance(_ kind: TransportFailure.Kind) throws -> TransportFailure {
    try wait { state in
      state.statuses.lazy.compactMap {
        if case .blocked(let failure) = $0, failure.kind == kind { failure } else { nil }
      }
      .first
    }
  }

  func waitForFailure() throws -> TransportFailure { try wait { $0.failures.first } }

  func waitForLine(_ part: String) throws -> String { try wait { $0.lines.first { $0.contains(part) } } }

  /// The next connection that has not been taken, which is the caller's.
  func takeConnection() throws -> PeerConnection {
    let connection = state.wait(until: MonotonicClock.now + testTimeout) { state in
      state.connections.isEmpty ? nil : state.connections.removeFirst()
    }
    return try #require(connection, "\(state.withLock { $0 })")
  }
}

/// A transport on a private bus.
struct Bench {
  let transport: BluetoothTransport
  let recorder = TransportRecorder()

  init(busAddress: String, _ configuration: BluetoothTransport.Configuration = .app()) throws {
    var configuration = configuration
    configuration.busAddress = busAddress
    configuration.retryPause = .milliseconds(50)
    configuration.log = { [recorder] in recorder.log($0) }
    transport = BluetoothTransport(configuration)
    try transport.start { [recorder] in recorder.receive($0) }
  }
}
