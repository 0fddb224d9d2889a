"use strict";
(() => {
  const table = document.getElementById("sections");
  const body = table.tBodies[0];
  const value = (row, column) => row.cells[column].textContent.replace(/[,%]/g, "");
  Array.from(table.tHead.rows[0].cells).forEach((head, column) => {
    const numeric = head.classList.contains("n");
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const down = head.ariaSort ? head.ariaSort === "ascending" : numeric;
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      head.ariaSort = down ? "descending" : "ascending";
      const sign = down ? -1 : 1;
      const rows = Array.from(body.rows).sort((one, other) => {
        const [a, b] = [value(one, column), value(other, column)];
        return sign * (numeric ? a - b : a < b ? -1 : a > b ? 1 : 0);
      });
      body.append(...rows);
    });
  });
})();
