"""Finds the places in Swift sources where a bug of an everyday kind can be planted: line by line, without a parser, since what
does not compile in the end is left out of the build."""

import re

# Whatever happens to such a line, nothing but a log or the memory that is reserved changes.
WITHOUT_EFFECT = re.compile(r"\blog\(GST_LEVEL|\.log\(|\btracer\b|reserveCapacity|\bassert|precondition|\bdebug\w*\(")


def code_lines(text):
    """The lines that are code alone: no comments, and nothing of literals that span lines. (index, line)"""
    inside = False
    for index, line in enumerate(text.split("\n")):
        quotes = line.count('"""')
        if not inside and not quotes and not re.match(r"\s*(//|#|@|import\b|\*)", line) and "//" not in line:
            yield index, line
        if quotes % 2:
            inside = not inside


def is_balanced(text):
    depth = 0
    for character in text:
        depth += (character in "([{") - (character in ")]}")
        if depth < 0:
            return False
    return depth == 0


CONDITION = re.compile(r"^(\s*(?:\} else )?(?:if|guard) )(.+?)( \{.*| else \{.*)$")
RETURNED = re.compile(r"^(\s*return |\s*(?:package |private |fileprivate )*(?:static )?var \w+: Bool \{ )(.+?)( \}|)$")
COMPARISON = re.compile(r"^([^&|?:<>=!,]+) (<|<=|>|>=|==|!=) ([^&|?:<>=!,]+)$")
STATEMENT = re.compile(r"^(\s+)([A-Za-z_][\w.!?\[\]]*(?:\(.*\)| [-+&|]*= .+))$")
KEYWORDS = re.compile(
    r"^(let|var|return|case|throw|try|await|func|else|guard|if|for|while|switch|defer|super|self\.init|init|default|static|"
    r"private|fileprivate|package|break|continue|typealias|associatedtype|nonisolated|unowned|weak|indirect)\b")
CONSTANT = re.compile(r"^(\s*(?:package |private |fileprivate )*static let \w+(?:: [\w.]+)? = .*?\b)(\d[\d_]*)(\b[^.\w].*|)$")
EXTREME = re.compile(r"(?<![.\w])(min|max)\(")
# The other two are the condition negated.
OTHER = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}


def is_condition(text):
    return not re.search(r"\b(let|var|case|try|await)\b|#|,|\bis\b", text) and is_balanced(text)


def depend(one, other):
    """Whether the order of two statements may matter: one changes what the other reads, or both act on one object."""
    targets = [re.match(r"([\w.!?\[\]]+) [-+&|]*= ", text) for text in (one, other)]
    if all(targets):
        return any(re.search(rf"(?<![.\w]){re.escape(target[1])}(?!\w)", text[len(target[0]):] if text == target.string else text)
                   for target, text in ((targets[0], other), (targets[1], one)))
    roots = [re.match(r"(?:self\.)?(\w+)(\()?", text) for text in (one, other)]
    if any(root[1] in ("library", "message", "structure") for root in roots):
        # Options and fields, in any order.
        return False
    # A function without an object may use all that its own has.
    return any(root[2] for root in roots) or roots[0][1] in re.findall(r"\w+", other) or roots[1][1] in re.findall(r"\w+", one)


def statement(line):
    match = STATEMENT.match(line)
    # What an initializer is given has to be stored.
    if match and re.match(r"self\.(\w+) = \1$", match[2]):
        return None
    if match and not KEYWORDS.match(match[2]) and is_balanced(match[2]) and not WITHOUT_EFFECT.search(line):
        return match
    return None


def is_result(lines, index):
    """Whether a statement is the only one of a block that has a value, so that the value is the statement's."""
    before, after = lines.get(index - 1, "").rstrip(), lines.get(index + 1, "").strip()
    return before.endswith(("{", " in")) and after.startswith("}") and not re.match(
        r"\s*(\} else|if|guard|for|while|defer|do|.*\bfunc\b(?!.*->)|.*\binit\b)", before)


def is_in_initializer(lines, index):
    """Where properties get their first values, which they need."""
    indent = len(lines[index]) - len(lines[index].lstrip())
    for above in range(index - 1, -1, -1):
        line = lines.get(above, "")
        own = len(line) - len(line.lstrip())
        if line.strip() and own < indent:
            # The end of a declaration's parameters is indented like its beginning.
            indent = own + line.strip().startswith((")", "}"))
            if re.search(r"\b(init[?(<]|func |subscript|var |get\b|set\b)", line):
                return bool(re.search(r"\binit[?(<]", line)) and not re.search(r"\bself\.init|super\.init", line)
    return False


def call_of(line, match):
    """The end of the call that begins at a match of EXTREME."""
    depth = 0
    for index in range(match.end() - 1, len(line)):
        depth += (line[index] == "(") - (line[index] == ")")
        if depth == 0:
            return index + 1
    return None


def candidates(lines):
    """(index, kind, before, the changed line or lines; @ is the test of the switch)"""
    for index, line in lines.items():
        for match in (CONDITION.match(line), RETURNED.match(line)):
            if not match or not is_condition(match[2]):
                continue
            head, condition, tail = match.groups()
            if match.re is CONDITION:
                yield index, "condition negated", condition, f"{head}@ != ({condition}){tail}"
            for one, other in (("&&", "||"), ("||", "&&")):
                if condition.count(f" {one} ") == 1 and other not in condition:
                    changed = condition.replace(f" {one} ", f" {other} ")
                    yield index, f"{one} for {other}", condition, f"{head}(@ ? ({changed}) : ({condition})){tail}"
            comparison = COMPARISON.match(condition)
            if comparison and comparison[2] in OTHER:
                changed = f"{comparison[1]} {OTHER[comparison[2]]} {comparison[3]}"
                yield index, "comparison shifted", condition, f"{head}(@ ? ({changed}) : ({condition})){tail}"
        found = statement(line)
        if found and not is_result(lines, index):
            indent, text = found.groups()
            if not re.match(r"[\w.!?\[\]]+ [-+&|]*= ", text):
                yield index, "call removed", text, f"{indent}if !@ {{ {text} }}"
            elif not is_in_initializer(lines, index):
                yield index, "assignment removed", text, f"{indent}if !@ {{ {text} }}"
            following = statement(lines.get(index + 1, ""))
            if following and following[1] == indent and depend(text, following[2]):
                yield index, "order exchanged", f"{text}; {following[2]}", (
                    f"{indent}if @ {{ {following[2]}; {text} }} else {{ {text}; {following[2]} }}", "")
        match = re.match(r"^(\s*)defer \{ (.+) \}$", line)
        if match and not WITHOUT_EFFECT.search(line):
            yield index, "defer removed", match[2], f"{match[1]}defer {{ if !@ {{ {match[2]} }} }}"
        match = CONSTANT.match(line)
        if match and '"' not in line:
            value = int(match[2].replace("_", ""))
            yield index, "constant", line.strip(), f"{match[1]}(@ ? {value * 2 + 1} : {match[2]}){match[3]}"
        for match in EXTREME.finditer(line):
            end = call_of(line, match)
            if end:
                arguments = line[match.end():end - 1]
                other = "max" if match[1] == "min" else "min"
                text = f"(@ ? {other}({arguments}) : {match[1]}({arguments}))"
                yield index, f"{match[1]} for {other}", line[match.start():end], line[:match.start()] + text + line[end:]
