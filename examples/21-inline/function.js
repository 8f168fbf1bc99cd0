const { inlineHandler } = core;

exports.handler = inlineHandler(async ({ type, properties }) => {
  if (type === "Delete") return;
  const { Words = [] } = properties;
  // An empty list arrives as one empty word.
  if (Words.join("") === "") throw new Error("Words is empty");
  return { attributes: { Sentence: `${Words.join(" ")}.`, Count: String(Words.length) } };
});
