# Makes Doxygen read the tree's comments: the first lines of a header are of the file, a comment behind a member is of that member.
1s|^// |/// \\file\n/// |
# A line that is a comment: headings of parts are of no entity, and an example behind an empty line is code.
/^ {0,19}\/\//{
s|^( *)// -{3,}.*|\1|
s|^( *)//$|\1///|
s|^( *)//   (.*)|\1///     \2|
s|^( *)// |\1/// |
b end
}
# A comment behind a member ends with its line: what stands below is of the next one, unless it is far to the right.
s|([;,{]) +// (.*)|\1  /**< \2 */|
s|^( {20,})// (.*)|\1/**< \2 */|
s|(bool operator==\(const [A-Za-z:]+&( [a-z]+)?\) const = default;)$|\1  /**< True if all members are equal. */|
# Macros that expand a table are not for users.
/^#define [A-Z_]+\(.*(OP_|CODE|KIND_|SECTION_|heading|code,)/{
:continued
/\\$/{
N
b continued
}
s|[^\n]||g
}
# Doxygen gives the comment behind several members to the last one only: each gets a line of its own.
:members
s~(^|\n)( *)([A-Za-z_:<>0-9, ]*[A-Za-z_:>0-9]) ([A-Za-z_0-9]+(\{[^{},;]*\}| = [^,;(]+)?), ([A-Za-z_][^;(\n]*)(;|;  /\*\*<.*)$~\1\2\3 \4\7\n\2\3 \6\7~
t members
:end
