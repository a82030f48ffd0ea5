@testable import SDLApp
import Testing

@Suite struct PendingRequestsTests {
  private static func response(_ function: FunctionID, _ id: Int32) -> RPCMessage {
    RPCMessage(type: .response, function: function, correlationID: id)
  }

  @Test func everyRequestIsTakenOnce() {
    var requests = PendingRequests()
    let first = requests.add(.registerAppInterface, deadline: .seconds(1))
    let second = requests.add(.getSystemCapability, deadline: .seconds(2))
    #expect(first == 1 && second == 2)
    #expect(requests.take(Self.response(.registerAppInterface, second)) == nil)
    #expect(requests.take(Self.response(.getSystemCapability, second)) == .getSystemCapability)
    #expect(requests.take(Self.response(.getSystemCapability, second)) == nil)
    #expect(requests.take(Self.response(.genericResponse, first)) == .registerAppInterface)
    #expect(requests.take(Self.response(.genericResponse, first)) == nil)
    #expect(requests == PendingRequests(after: 2))
  }

  @Test func expiry() {
    var requests = PendingRequests()
    _ = requests.add(.getSystemCapability, deadline: .seconds(3))
    _ = requests.add(.registerAppInterface, deadline: .seconds(1))
    _ = requests.add(.unregisterAppInterface, deadline: .seconds(3))
    #expect(requests.nextDeadline == .seconds(1))
    #expect(requests.takeExpired(now: .milliseconds(999)) == [])
    #expect(requests.takeExpired(now: .seconds(1)) == [.registerAppInterface])
    #expect(requests.nextDeadline == .seconds(3))
    #expect(requests.takeExpired(now: .seconds(9)) == [.getSystemCapability, .unregisterAppInterface])
    #expect(requests.nextDeadline == nil)
  }

  @Test func endOfTheSession() {
    var requests = PendingRequests()
    let id = requests.add(.getSystemCapability, deadline: .seconds(3))
    requests.removeAll()
    #expect(requests.nextDeadline == nil)
    #expect(requests.take(Self.response(.getSystemCapability, id)) == nil)
    #expect(requests.add(.getSystemCapability, deadline: .seconds(3)) != id)
  }
}

extension PendingRequests {
  /// An empty list after a number of requests.
  fileprivate init(after count: Int) {
    self.init()
    for _ in 0..<count { _ = add(.genericResponse, deadline: .zero) }
    removeAll()
  }
}
