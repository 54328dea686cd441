;;; Drives `drywell dap` with dap-mode, Emacs' client of the Debug Adapter Protocol, as a user of that editor does.
;;;     DRYWELL=… SOURCES=… emacs --batch -l dap_emacs.el
(setq user-emacs-directory (file-name-as-directory (make-temp-file "drywell-emacs" t))
      dap-auto-configure-features nil
      dap-output-buffer-filter nil
      make-backup-files nil)
(package-initialize)
(require 'dap-mode)
(require 'cl-lib)

(defun await (what predicate)
  "Waits until PREDICATE holds."
  (let ((end (+ (float-time) 60)) value)
    (while (and (not (setq value (funcall predicate))) (< (float-time) end))
      (accept-process-output nil 0.02))
    (unless value (error "No %s" what))
    value))

(defun expect (what holds)
  (unless holds (error "%s is wrong" what)))

(defvar stops 0 "How often the adapter said that the kernel stopped.")
(add-hook 'dap-stopped-hook (lambda (_) (cl-incf stops)))

(defun after-stop (action)
  "Does ACTION and waits until the kernel has stopped and Emacs shows where."
  (let ((before stops))
    (funcall action)
    (await "stop" (lambda () (and (> stops before) (dap--debug-session-active-frame (dap--cur-session)))))))

(defun registers (frame)
  (let* ((scopes (gethash "scopes" (dap-request (dap--cur-session) "scopes" :frameId (gethash "id" frame))))
         (scope (cl-find "Registers" scopes :key (lambda (s) (gethash "name" s)) :test #'string=))
         (variables (gethash "variables" (dap-request (dap--cur-session) "variables" :variablesReference (gethash "variablesReference" scope)))))
    (mapcar (lambda (v) (cons (gethash "name" v) (gethash "value" v))) (append variables nil))))

(let ((sources (file-name-as-directory (getenv "SOURCES"))) line)
  (setq default-directory sources)
  ;; A breakpoint in the kernel's C++, set as a user does: the cursor on the line.
  (find-file (concat sources "kernels/fused_rht/kernel.cpp"))
  (re-search-forward "k_(\"tcgen05\\.mma")
  (setq line (line-number-at-pos))
  (dap-breakpoint-add)
  (let ((before stops))
    (dap-start-debugging
     (list :type "drywell" :request "launch" :name "fused RHT" :cwd sources :sourceRoot sources
           :dap-server-path (list (getenv "DRYWELL") "dap")
           :program "fused-rht" :args ["--m=256" "--n=256" "--verify"]))
    (await "entry" (lambda () (and (dap--cur-session) (> stops before) (dap--debug-session-active-frame (dap--cur-session))))))

  (let* ((session (dap--cur-session))
         (frame (after-stop (lambda () (dap-continue session (dap--debug-session-thread-id session)))))
         (thread (dap--debug-session-thread-id session))
         (before (registers frame)))
    (expect "the line of the stop" (= line (gethash "line" frame)))
    (expect "the name of the frame" (string-match-p "tcgen05.mma" (gethash "name" frame)))
    (expect "registers" before)
    (expect "threads" (> (length (gethash "threads" (dap-request session "threads"))) 4))
    ;; Forward and back: the same registers. dap-mode 0.7 has no command of its own for going back.
    (let ((next (after-stop (lambda () (dap-next session)))))
      (expect "another line" (/= line (gethash "line" next))))
    (let ((back (after-stop (lambda () (dap--step "reverseContinue" session)))))
      (expect "the line gone back to" (= line (gethash "line" back)))
      (expect "registers gone back to" (equal before (registers back)))
      (expect "a command of drywell step"
              (string-match-p "pending" (gethash "result" (dap-request session "evaluate" :expression "info mbarriers" :frameId (gethash "id" back) :context "repl")))))
    ;; What makes no sense is refused, and the session goes on.
    (expect "a refusal" (eq 'refused (condition-case nil (dap-request session "makeTea" :milk t) (error 'refused))))
    (expect "a refusal" (eq 'refused (condition-case nil (dap-request session "stackTrace" :threadId "seven") (error 'refused))))
    (dap-breakpoint-delete-all)
    (dap-continue session thread)
    (await "end" (lambda () (not (dap--session-running session))))
    (with-current-buffer (dap--debug-session-output-buffer session)
      (expect "the kernel's verification" (string-match-p "verified" (buffer-string))))))
(princ "passed\n")
