// What the table is asked for: terms with spaces between them, all of which must hold.
//
//   block_size_x=16   time<0.5   status=compile   block_size_y!=4   any text

// parseQuery makes a test of rows out of a text.
function parseQuery(run, text) {
  const tests = text.trim().split(/\s+/).filter(Boolean).map((term) => termTest(run, term));
  return (row) => tests.every((test) => test(row));
}

function termTest(run, term) {
  const found = /^(.+?)(<=|>=|!=|<|>|=)(.+)$/.exec(term);
  const of = found && fieldOf(run, found[1]);
  if (!of) {
    const wanted = term.toLowerCase();
    return (row) => (run.configuration(row) + " " + run.status(row) + " " + run.reason(row)).toLowerCase().includes(wanted);
  }
  const [, , operator, wanted] = found, number = Number(wanted);
  return (row) => {
    const v = of(row), numeric = typeof v === "number" ? v : Number(v);
    const both = !Number.isNaN(number) && !Number.isNaN(numeric);
    switch (operator) {
      case "=": return both ? numeric === number : String(v) === wanted;
      case "!=": return both ? numeric !== number : String(v) !== wanted;
      case "<": return both && numeric < number;
      case ">": return both && numeric > number;
      case "<=": return both && numeric <= number;
      default: return both && numeric >= number;
    }
  };
}

// fieldOf reads a named parameter, status or measure of a row.
function fieldOf(run, name) {
  const parameter = run.parameters.find((p) => p.name === name);
  if (parameter) return (row) => run.value(row, parameter);
  if (name === "status") return (row) => run.status(row);
  const measure = run.measures.find((m) => m.name === name);
  const column = run.column(measure ? measure.column : name);
  return column && ((row) => column[row]);
}
