'use strict';
const form = document.querySelector('form');
const status = document.querySelector('[role=status]');

const show = (id, url) => {
  const img = document.getElementById(id);
  URL.revokeObjectURL(img.src);
  img.src = url;
  img.parentElement.hidden = false;
};

form.addEventListener('submit', async (event) => {
  event.preventDefault();
  const button = form.querySelector('button');
  const data = new FormData(form);
  show('before', URL.createObjectURL(data.get('image')));
  button.disabled = true;
  status.textContent = 'Working…';
  try {
    const response = await fetch('/api/process-image', { method: 'POST', body: data });
    const answer = await response.json();
    if (!response.ok) throw new Error(answer.message || answer.details);
    const bytes = Uint8Array.from(atob(answer.data.data.mediaId), (c) => c.charCodeAt(0));
    show('after', URL.createObjectURL(new Blob([bytes])));
    status.textContent = '';
  } catch (error) {
    status.textContent = error.message;
  } finally {
    button.disabled = false;
  }
});
