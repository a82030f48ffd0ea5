import Synchronization

/// Values that a type of settings begins with: the defaults of its properties stand here and nowhere else.
public protocol PropertySettings: Sendable {
  /// All defaults.
  init()
}

/// The settings of an element, that is what the user asked for, under a lock; and the reasons of values that were
/// refused before there was a bus to post them on.
///
///     let settings = ElementSettings(VideoSinkSettings())
///     let timeout = settings.withLock { $0.connectTimeout }
///     let all = settings.current
public final class ElementSettings<Values: PropertySettings>: Sendable {
  private struct State {
    var values: Values
    /// One for each property, by its id.
    var refusals: [UInt32: ElementError] = [:]
  }

  private let state: Mutex<State>

  /// Begins with `values`.
  public init(_ values: Values = Values()) {
    state = Mutex(State(values: values))
  }

  /// Reads or changes the values. Call nothing that may lock in `body`.
  public func withLock<Result, Failure: Error>(
    _ body: (inout Values) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    try state.withLock { state throws(Failure) in try body(&state.values) }
  }

  /// A copy of the values.
  public var current: Values { state.withLock { $0.values } }

  /// The reasons of values that were refused before there was a bus, in the order of the properties.
  public var refusals: [ElementError] {
    state.withLock { $0.refusals.sorted { $0.key < $1.key }.map(\.value) }
  }

  /// The same; they are removed.
  public func takeRefusals() -> [ElementError] {
    state.withLock { state in
      defer { state.refusals = [:] }
      return state.refusals.sorted { $0.key < $1.key }.map(\.value)
    }
  }

  /// Keeps why the value of the property with this id was refused, in place of an earlier reason.
  public func keepRefusal(_ error: ElementError, of id: UInt32) {
    state.withLock { $0.refusals[id] = error }
  }

  /// All or nothing: if `change` throws, the values are as before.
  func change(_ id: UInt32, _ change: (inout Values) throws(InvalidPropertyValue) -> Void) throws(InvalidPropertyValue)
  {
    try state.withLock { state throws(InvalidPropertyValue) in
      // What was refused earlier is replaced by this value.
      state.refusals[id] = nil
      var changed = state.values
      try change(&changed)
      state.values = changed
    }
  }
}
