const { inlineHandler } = core;

exports.handler = inlineHandler(async ({ type, properties }) => {
  if (type === "Delete") return;
  const { Words = [] } = properties;
  if (Words.length === 0) throw new Error("Words is empty");
  return { attributes: { Sentence: `${Words.join(" ")}.`, Count: String(Words.length) } };
});
