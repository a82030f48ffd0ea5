/// A queue that does not move its elements when the first one is removed.
package struct FIFO<Element> {
  /// The first elements, in reverse order.
  private var front: [Element] = []
  /// Those behind them.
  private var back: [Element] = []

  package init() {}

  package mutating func append(_ element: Element) {
    back.append(element)
  }

  package mutating func insert(_ element: Element, at position: Int) {
    if position < front.count {
      front.insert(element, at: front.count - position)
    } else {
      back.insert(element, at: position - front.count)
    }
  }

  /// Nil if there is none.
  @discardableResult
  package mutating func popFirst() -> Element? {
    if front.isEmpty {
      // Both keep their memory.
      swap(&front, &back)
      front.reverse()
    }
    return front.popLast()
  }

  /// Keeps its memory.
  package mutating func removeAll() {
    front.removeAll(keepingCapacity: true)
    back.removeAll(keepingCapacity: true)
  }
}

extension FIFO: Sendable where Element: Sendable {}

extension FIFO: RandomAccessCollection, MutableCollection {
  package var startIndex: Int { 0 }
  package var endIndex: Int { front.count + back.count }

  package subscript(position: Int) -> Element {
    get { position < front.count ? front[front.count - 1 - position] : back[position - front.count] }
    set {
      if position < front.count {
        front[front.count - 1 - position] = newValue
      } else {
        back[position - front.count] = newValue
      }
    }
  }
}
