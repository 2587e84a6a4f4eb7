// A page whose address ends in ?code is printed with its code; see custom.css.
if (new URLSearchParams(location.search).has("code")) {
  document.documentElement.classList.add("lke-code");
}
